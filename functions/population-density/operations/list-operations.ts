import { hashed } from "../../../shared/hash.ts";
import { serve } from "../../../shared/http/serve.ts";
import { type Job, keptSince } from "../delivery/job.ts";
import { listJobs } from "../delivery/job-list-store.ts";
import { listOperations } from "./contract.ts";
import { isVisible, operationOf } from "./operation.ts";
import { pageTokenOf, positionOf } from "./page-token.ts";

const defaultCount = 20;

/** Returns a caller's operations of the last day, the newest first. */
export const handler = serve(
  listOperations,
  async ({ query, caller, now, quotaChecked, signal, reply, refuse }) => {
    const { state, perPage = defaultCount, pageToken } = query;
    const after = pageToken === undefined ? undefined : positionOf(pageToken);
    if (pageToken !== undefined && after === undefined)
      throw refuse("INVALID_ARGUMENT", { message: "pageToken must be the nextPageToken of a page." });
    await quotaChecked;
    const { jobs, next } = await listJobs(
      {
        caller: hashed(caller.client),
        since: keptSince(now.getTime()),
        state: state?.toLowerCase() as Job["state"] | undefined,
        after,
        count: Number(perPage),
      },
      signal,
    );
    return reply(200, {
      operations: jobs.filter((job) => isVisible(job, caller.client, now)).map(operationOf),
      ...(next === undefined ? {} : { nextPageToken: pageTokenOf(next) }),
    });
  },
);
