import { causeOf, logFault } from "../../../shared/aws/log.ts";
import { Unavailable } from "../../../shared/errors.ts";
import { isForgotten, type Job } from "./job.ts";
import type { Ports } from "./ports.ts";

/**
 * The result of a request for a job:
 * - `accepted`: it will be delivered.
 * - `joined`: it will be delivered for an earlier request with the same idempotency key.
 * - `conflict`: the idempotency key belongs to another request.
 * - `full`: the caller has no place left.
 * - `withdrawn`: nothing will be delivered.
 * - `unknown`: it is unknown whether the job was accepted; repeating the request with the same idempotency key tells.
 */
export type Acceptance = "accepted" | "joined" | "conflict" | "full" | "withdrawn" | "unknown";

/** Time limit, from the start of the request, for reserving the place and storing the job. */
const storeMilliseconds = 2_600;

/** Time limit for withdrawing a job that may have been stored; it is part of the request's time. */
const withdrawMilliseconds = 1_800;

/** Time limit for sending the message; if it fails, the sweep sends one. */
const queueMilliseconds = 800;

type AcceptPorts = Pick<Ports, "clock" | "log"> & {
  readonly jobs: Pick<
    Ports["jobs"],
    "reservePlace" | "store" | "read" | "promise" | "withdraw" | "freeEnded" | "markQueued"
  >;
  readonly queues: Pick<Ports["queues"], "send">;
};

/**
 * Accepts a job: reserves one of its caller's places, then stores the job. From then on it will be delivered, and no
 * failure turns the result into an error: if its message cannot be sent now, the sweep sends it. A repeated request
 * with the same idempotency key joins the stored job.
 *
 * @param job not stored yet, with an `intake` of its own.
 */
export async function acceptJob(
  job: Job,
  pendingLimit: number,
  ports: AcceptPorts,
  signal: AbortSignal,
): Promise<Acceptance> {
  const storing = ports.clock.deadline(storeMilliseconds, job.requestedAt);
  const inTime = AbortSignal.any([signal, storing]);
  try {
    const acceptance = await storeOrJoin(job, pendingLimit, ports, inTime);
    if (acceptance !== "accepted") return acceptance;
  } catch (error) {
    // The time limit also ends a pause between two calls.
    if (!(error instanceof Unavailable) && !inTime.aborted) throw error;
    const cause = error instanceof Unavailable ? error.message : causeOf(error);
    ports.log("DEPENDENCY_FAILED", { operationId: job.operationId, cause });
    return await withdraw(job, ports, ports.clock.deadline(withdrawMilliseconds));
  }
  await queue(job, ports, ports.clock.deadline(queueMilliseconds));
  return "accepted";
}

/**
 * Joins the job of an earlier, identical request with the same idempotency key. From then on that job cannot be
 * withdrawn.
 * @param repeated with each of the hashes that the earlier request may have.
 * @returns `false` if there is none: it was never stored, was withdrawn, is forgotten, or belongs to another request.
 */
export async function joinJob(
  repeated: Pick<Job, "operationId" | "requestedAt"> & { readonly requestHashes: readonly string[] },
  jobs: Pick<Ports["jobs"], "read" | "promise">,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await jobs.read(repeated.operationId, signal);
  if (found === undefined || found.state === "withdrawn" || isForgotten(found, repeated.requestedAt))
    return false;
  if (!repeated.requestHashes.includes(found.requestHash)) return false;
  return found.state !== "pending" || (await jobs.promise(found, signal));
}

async function storeOrJoin(
  job: Job,
  pendingLimit: number,
  { jobs, clock }: AcceptPorts,
  signal: AbortSignal,
): Promise<Exclude<Acceptance, "withdrawn" | "unknown">> {
  let replaces: Job | undefined;
  for (;;) {
    const hasPlace = await jobs.reservePlace(job, pendingLimit, signal);
    if (hasPlace && (await jobs.store(job, replaces, signal))) return "accepted";
    const holder = await holderOf(job, jobs, signal);
    if ("acceptance" in holder) return holder.acceptance;
    replaces = holder.replaces;
    if (hasPlace) continue;
    if (pendingLimit === 0 || (await jobs.freeEnded(job.caller, clock.now(), signal)) === 0) return "full";
  }
}

/**
 * Withdraws a job of which it is unknown whether it was stored. A job that another request has joined, or with an
 * attempt begun, is not withdrawn but delivered.
 */
async function withdraw(job: Job, { jobs, log }: AcceptPorts, signal: AbortSignal): Promise<Acceptance> {
  let replaces: Job | undefined;
  try {
    for (;;) {
      if (await jobs.withdraw(job, replaces, signal)) return "withdrawn";
      const holder = await holderOf(job, jobs, signal);
      if ("acceptance" in holder) return holder.acceptance;
      replaces = holder.replaces;
    }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log("DEPENDENCY_FAILED", { operationId: job.operationId, cause: error.message });
    return "unknown";
  }
}

/**
 * Finds out which job has the id of this one, after a write of it was refused or its response was lost. `accepted`: this
 * job has it. `joined`: another request's job for the same, which is then promised to this request too. `conflict`:
 * another request's job for something else. `replaces`: nothing that counts, but a withdrawn job, if there is one.
 */
async function holderOf(
  job: Job,
  jobs: Pick<Ports["jobs"], "read" | "promise">,
  signal: AbortSignal,
): Promise<
  { readonly acceptance: "accepted" | "joined" | "conflict" } | { readonly replaces: Job | undefined }
> {
  for (;;) {
    const found = await jobs.read(job.operationId, signal);
    if (found?.state === "withdrawn") return { replaces: found };
    if (found === undefined || isForgotten(found, job.requestedAt)) return { replaces: undefined };
    if (found.intake === job.intake) return { acceptance: "accepted" };
    if (found.requestHash !== job.requestHash) return { acceptance: "conflict" };
    if (found.state !== "pending" || (await jobs.promise(found, signal))) return { acceptance: "joined" };
    // It was withdrawn meanwhile.
  }
}

/** Sends the message of a stored job. If anything fails, the sweep sends one. */
async function queue(
  { operationId }: Job,
  { jobs, queues, clock, log }: AcceptPorts,
  signal: AbortSignal,
): Promise<void> {
  try {
    const sentAt = clock.now();
    await queues.send(operationId, signal);
    await jobs.markQueued(operationId, sentAt, signal);
  } catch (error) {
    logFault(error, { operationId }, log);
  }
}
