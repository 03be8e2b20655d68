import type { Command } from "commander";
import { retryStuck, stuckMessages } from "../stuck-jobs.ts";
import { outputsOption, useStack } from "./stack.ts";

/** `ncs jobs`: deliveries that could neither be made nor given up. */
export function addJobs(program: Command): void {
  const jobs = program.command("jobs").description("Look after deliveries of densities that are stuck.");

  jobs
    .command("list")
    .description("what is in the queue of stuck jobs")
    .requiredOption(...outputsOption)
    .action(async ({ outputs }: { outputs: string }) => {
      await useStack(outputs);
      const messages = await stuckMessages();
      for (const { operationId = "a message that names no job", state, since } of messages) {
        console.log(`${since.toISOString()}  ${operationId}  ${state}`);
      }
      console.log(`${messages.length} stuck`);
    });

  jobs
    .command("retry [operationIds...]")
    .description("try stuck jobs again, all of them if none is named, and forget those that are over")
    .requiredOption(...outputsOption)
    .action(async (operationIds: string[], { outputs }: { outputs: string }) => {
      await useStack(outputs);
      const named = operationIds.length === 0 ? undefined : operationIds;
      const { retried, removed, missing } = await retryStuck(named);
      console.log(`${retried} tried again, ${removed} forgotten`);
      if (missing.length > 0) throw new Error(`not stuck: ${missing.join(", ")}`);
    });
}
