import type { Bench } from "./bench.ts";
import { aboutAcceptance, acceptanceRows } from "./delivery-acceptance.ts";
import { aboutJobs, jobRows } from "./delivery-jobs.ts";
import { aboutUpload, uploadRows } from "./delivery-upload.ts";

/** Answers to a sink, from the request to the last byte. */
export const delivery: Bench = {
  about: [aboutAcceptance, aboutJobs, aboutUpload].join("\n\n"),
  run: async () => [...(await acceptanceRows()), ...(await jobRows()), ...(await uploadRows())],
};
