import * as z from "zod/mini";
import { getItems } from "../../../shared/aws/database.ts";
import { queryNewest } from "../../../shared/aws/query-newest.ts";
import type { Job } from "./job.ts";
import { densityJobs } from "./tables.ts";

/** A position in the list of a caller's jobs. */
export type ListPosition = z.infer<typeof listPosition>;

const listPosition = z.object({ listedAt: z.string(), operationId: z.string() });

/** How many entries one call examines when it looks for jobs in one state; an entry has about 150 bytes. */
const entriesPerCall = 1_000;

/** Selects a page of a caller's jobs. */
interface ListQuery {
  /** Hash of the caller. */
  readonly caller: string;
  /** Epoch milliseconds; older jobs are left out. */
  readonly since: number;
  readonly state: Job["state"] | undefined;
  /** The last entry of the previous page. */
  readonly after: ListPosition | undefined;
  readonly count: number;
}

/**
 * A page of a caller's jobs, newest first. The index, which may miss the most recent ones, gives their ids; the jobs
 * themselves are read from the table, so a page may have fewer than requested.
 */
export async function listJobs(
  { caller, since, state, after, count }: ListQuery,
  signal: AbortSignal,
): Promise<{ readonly jobs: readonly Job[]; readonly next: ListPosition | undefined }> {
  const { items, hasMore } = await queryNewest(
    densityJobs,
    "by-caller",
    {
      partition: caller,
      from: new Date(since).toISOString(),
      after: after && { caller, ...after },
      ...(state === undefined ? {} : { where: { state } }),
      count,
      limit: state === undefined ? count : entriesPerCall,
    },
    listPosition,
    signal,
  );
  const keys = items.map(({ operationId }) => ({ operationId }));
  const found = new Map((await getItems(densityJobs, keys, signal)).map((job) => [job.operationId, job]));
  const jobs = items.flatMap(({ operationId }) => found.get(operationId) ?? []);
  return {
    jobs: state === undefined ? jobs : jobs.filter((job) => job.state === state),
    next: hasMore ? items.at(-1) : undefined,
  };
}
