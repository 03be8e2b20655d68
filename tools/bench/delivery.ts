import type { Bench } from "./bench.ts";
import { aboutOrders, orderRows } from "./delivery-orders.ts";
import { aboutUpload, uploadRows } from "./delivery-upload.ts";

/** Answers to a sink, from the order to the last byte. */
export const delivery: Bench = {
  about: [aboutOrders, aboutUpload].join("\n\n"),
  run: async () => [...(await orderRows()), ...(await uploadRows())],
};
