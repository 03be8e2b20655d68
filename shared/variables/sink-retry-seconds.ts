import type { Format } from "./format.ts";

/** Waits, with jitter, must fit into the 12 hours for which SQS can hide a message and into a job's day. */
const maxWaitSeconds = 28_800;
const maxWaitsSeconds = 64_800;
const maxWaits = 20;

/** Seconds before each further delivery attempt, in the order of the attempts. */
export const SINK_RETRY_SECONDS = {
  name: "SINK_RETRY_SECONDS",
  default: "2,10,60,300,900,3600,10800,21600",
  format: (): Format<readonly number[]> => ({
    read: (value) => {
      if (value === "") return [];
      const seconds = value.split(",").map((part) => (/^\d{1,5}$/.test(part) ? Number(part) : Number.NaN));
      const total = seconds.reduce((sum, wait) => sum + wait, 0);
      const fits = seconds.every((wait) => wait <= maxWaitSeconds) && total <= maxWaitsSeconds;
      return fits && seconds.length <= maxWaits ? seconds : undefined;
    },
    must:
      `be empty or up to ${maxWaits} whole numbers of seconds, separated by commas, ` +
      `each up to ${maxWaitSeconds} and together up to ${maxWaitsSeconds}`,
  }),
};
