import * as z from "zod/mini";
import { causeOf, log } from "../../../shared/aws/log.ts";
import { withPatientCalls } from "../../../shared/aws/patient-calls.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { beginExecution } from "./begin-import.ts";
import { checkPrefix } from "./check-prefix.ts";
import { importOrder, keys, putJson } from "./execution-objects.ts";
import { failImport, finishImport } from "./finish-import.ts";
import { planImport } from "./plan-import.ts";
import { readCounts } from "./read-file.ts";
import { storePrefix } from "./store-prefix.ts";

const order = importOrder;
const prefix = z.string();

/** What the state machine calls the function with: a step, and what it is done to. */
const stepOfImport = z.discriminatedUnion("step", [
  z.object({ step: z.literal("read"), order, key: z.string(), size: z.number(), index: z.number() }),
  z.object({ step: z.literal("plan"), order }),
  z.object({ step: z.literal("check"), order, prefix }),
  z.object({ step: z.literal("begin"), order }),
  z.object({ step: z.literal("store"), order, prefix }),
  z.object({ step: z.literal("finish"), order }),
  z.object({ step: z.literal("fail"), order }),
]);

type StepOfImport = z.infer<typeof stepOfImport>;

/**
 * Does one step of a distributed import of densities; each can be repeated. An import that is refused before anything
 * is stored is a result with the problems, not a fault of the function.
 */
export async function handler(event: unknown): Promise<unknown> {
  const step = stepOfImport.parse(event);
  try {
    return (await withPatientCalls(() => run(step))) ?? {};
  } catch (error) {
    const isRefused = error instanceof ImportError;
    if (isRefused && (step.step === "plan" || step.step === "begin")) return { refused: error.message };
    if (step.step === "store" || step.step === "finish") await noteFailure(step, error);
    if (!isRefused) log("CRASH", { step: step.step, cause: causeOf(error) });
    throw error;
  }
}

/** For those who follow the execution: the error of a map does not say why one of its items failed. */
async function noteFailure(
  step: Extract<StepOfImport, { step: "finish" | "store" }>,
  error: unknown,
): Promise<void> {
  const reason = error instanceof Error ? error.message : typeof error;
  await putJson(keys.failed(step.order.id, step.step === "store" ? step.prefix : step.step), { reason });
}

async function run(step: StepOfImport): Promise<unknown> {
  switch (step.step) {
    case "read":
      return await readCounts(step.order, step);
    case "plan":
      return await planImport(step.order);
    case "check":
      return await checkPrefix(step.order, step.prefix);
    case "begin":
      return await beginExecution(step.order);
    case "store":
      return await storePrefix(step.order, step.prefix);
    case "finish":
      return await finishImport(step.order);
    case "fail":
      return { refused: (await failImport(step.order)).join("\n") };
  }
}
