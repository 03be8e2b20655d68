import type { Command } from "commander";
import { plural } from "../../shared/plural.ts";
import type { JobSummary } from "./job-operations.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { connectStack } from "./stack.ts";

/** `ncs jobs`: pending and parked deliveries. */
export function addJobs(jobs: Command, print: Print): void {
  withStackOptions(jobs.command("list"))
    .description("pending jobs, the oldest first, and messages in the parking queue")
    .action(async (options: StackOptions) => {
      await connectStack(options, "density-jobs");
      const { pendingJobs, parkedMessages } = await operations();
      const pending = await pendingJobs();
      for (const job of pending) print(lineOf(job));
      print(`${pending.length} pending`);
      const messages = await parkedMessages();
      for (const { operationId = "a message that names no job", state, since } of messages) {
        print(`${since.toISOString()}  ${operationId}  ${state}`);
      }
      print(`${messages.length} parked`);
    });

  withStackOptions(jobs.command("show <operationId>"))
    .description("the state of a job, and the reason")
    .action(async (operationId: string, options: StackOptions) => {
      await connectStack(options, "density-jobs");
      const { jobSummary } = await operations();
      const job = await jobSummary(operationId);
      if (job === undefined) throw new Error(`no job ${operationId}`);
      print(lineOf(job));
    });

  withStackOptions(jobs.command("retry [operationIds...]"))
    .description("retry parked jobs, all if none is named; delete messages of jobs that have ended")
    .action(async (operationIds: string[], options: StackOptions) => {
      await connectStack(options, "density-jobs");
      const { retryParked } = await operations();
      const named = operationIds.length === 0 ? undefined : operationIds;
      const { retried, removed, missing } = await retryParked(named);
      print(`${retried} retried, ${removed} deleted`);
      if (missing.length > 0) throw new Error(`not parked: ${missing.join(", ")}`);
    });

  withStackOptions(jobs.command("release [operationIds...]"))
    .description("end jobs without sending anything, or release the places of a caller's ended jobs")
    .option("--caller <client>", "release the places of this client's ended jobs")
    .action(async (operationIds: string[], options: StackOptions & { readonly caller?: string }) => {
      const { caller } = options;
      if (operationIds.length === 0 && caller === undefined)
        throw new Error("expected operation ids or --caller");
      await connectStack(options, "density-jobs");
      const { freeCaller, freeJob } = await operations();
      if (caller !== undefined) {
        const places = await freeCaller(caller);
        print(`${places} ${plural(places, "place")} released`);
      }
      const missing: string[] = [];
      for (const operationId of operationIds) {
        if (await freeJob(operationId)) print(`${operationId}  released`);
        else missing.push(operationId);
      }
      if (missing.length > 0) throw new Error(`not pending: ${missing.join(", ")}`);
    });
}

/** Loads the SDK's queues, which help does not need. */
async function operations() {
  return await import("./job-operations.ts");
}

function lineOf({ operationId, state, reason, requestedAt, attempts, notBefore }: JobSummary): string {
  const next =
    state === "pending" && notBefore !== undefined ? `next ${new Date(notBefore).toISOString()}` : "";
  const attempted = `${attempts} ${plural(attempts, "attempt")}`;
  return [new Date(requestedAt).toISOString(), operationId, state, attempted, reason, next]
    .filter((part) => part !== undefined && part !== "")
    .join("  ");
}
