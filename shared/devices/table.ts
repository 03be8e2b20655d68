import { table } from "../table.ts";
import { deviceRecord } from "./record.ts";

/** Devices, one item for each identifier, so that any identifier costs one read. */
export const devices = table({
  name: "devices",
  partitionKey: "identifier",
  personalData: true,
  schema: deviceRecord,
});
