import type { Bench } from "./bench.ts";
import { aboutAcceptance, acceptanceRows } from "./delivery-acceptance.ts";
import { aboutHanging, hangingRows } from "./delivery-hanging.ts";
import { aboutJobs, jobRows } from "./delivery-jobs.ts";
import { aboutPermits, permitRows } from "./delivery-permits.ts";
import { aboutUpload, uploadRows } from "./delivery-upload.ts";

/** Answers to a sink, from the request to the last byte. */
export const delivery: Bench = {
  about: [aboutAcceptance, aboutJobs, aboutHanging, aboutUpload, aboutPermits].join("\n\n"),
  run: async () => [
    ...(await acceptanceRows()),
    ...(await jobRows()),
    ...(await hangingRows()),
    ...(await uploadRows()),
    ...(await permitRows()),
  ],
};
