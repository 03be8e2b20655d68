import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  DescribeMapRunCommand,
  ListMapRunsCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import {
  type ImportOrder,
  imported,
  keys,
  putJson,
} from "../../../functions/population-density/distributed-import/execution-objects.ts";
import type { DensityOrder } from "../../../functions/population-density/import/publish/import-order.ts";
import { bucketVariable, resourceName } from "../../../shared/environment.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { importedFile } from "../imported-file.ts";
import { coveredAreaIn, type OnRemark } from "./area.ts";
import type { DensityImported } from "./import-density.ts";

/** An import of files in the bucket of the stack that imports densities, by the K and precisions that are given. */
export interface BucketImport extends DensityOrder {
  /** `s3://bucket/prefix`: the files whose keys begin with the prefix. */
  readonly source: string;
  /** Path of a GeoJSON file as `readArea` reads it; without it those cells are covered that any row names. */
  readonly coverage?: string | undefined;
  readonly onRemark?: OnRemark | undefined;
  /** ARN of the deployed state machine. */
  readonly stateMachineArn: string;
  readonly onProgress?: ((progress: BucketProgress) => void) | undefined;
  /** Between two looks at the execution. */
  readonly pollMilliseconds?: number | undefined;
}

/** The progress of an execution: of the map that it is at, items that are done and all. */
interface BucketProgress {
  /** `ReadFiles`, `CheckPrefixes` or `StorePrefixes`. */
  readonly map: string;
  readonly done: number;
  readonly all: number;
}

/**
 * Starts a distributed import and waits for its end. An import that is refused writes nothing; one that fails is simply
 * repeated.
 * @throws {ImportError} naming what is refused, as an import on one machine does.
 * @throws {Error} for an execution that fails otherwise.
 */
export async function importFromBucket(wanted: BucketImport): Promise<DensityImported> {
  const { source, coverage, stateMachineArn, onProgress, onRemark, ...rest } = wanted;
  const { pollMilliseconds = 2_000, ...others } = rest;
  const client = new SFNClient({ maxAttempts: 10 });
  // What the shell lacks is better said before anything is put into the bucket.
  await Promise.all([client.config.region(), client.config.credentials()]);
  const order: ImportOrder = {
    ...others,
    id: `${new Date().toISOString().slice(0, 10)}-${randomUUID()}`,
    prefix: prefixIn(source),
    hasArea: coverage !== undefined,
    isRecounted: others.isRecounted ?? false,
    marketShare: others.marketShare ?? 1,
    precisions: [...others.precisions],
    coverage: coverage === undefined ? undefined : await importedFile(coverage),
    accepted: others.accepted && [...others.accepted],
  };
  if (coverage !== undefined) await putJson(keys.area(order.id), await coveredAreaIn(coverage, onRemark));
  try {
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn, name: order.id, input: JSON.stringify(order) }),
      inTime(),
    );
    for (;;) {
      const execution = await client.send(new DescribeExecutionCommand({ executionArn }), inTime());
      if (execution.status !== "RUNNING") return resultOf(execution);
      const progress = await progressOf(client, executionArn);
      if (progress !== undefined) onProgress?.(progress);
      await wait(pollMilliseconds);
    }
  } finally {
    client.destroy();
  }
}

const callMilliseconds = 30_000;
const inTime = () => ({ abortSignal: AbortSignal.timeout(callMilliseconds) });

/** @throws {ImportError} for another bucket, which the function may not read. */
function prefixIn(source: string): string {
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)\/(.*)$/.exec(source) ?? [];
  const ours = resourceName(bucketVariable);
  if (bucket !== ours || prefix === "") {
    throw new ImportError([`${source}: must be s3://${ours}/ and what the keys of the files begin with`]);
  }
  if (prefix.startsWith("executions/"))
    throw new ImportError([`${source}: executions/ is for what imports leave`]);
  return prefix;
}

function resultOf({ status, output, error, cause }: DescribeExecutionOutput): DensityImported {
  if (status === "SUCCEEDED") return imported.parse(JSON.parse(output ?? ""));
  if (error === "ImportError") throw new ImportError((cause ?? "").split("\n"));
  throw new Error(
    `the import has ended as ${status}: ${cause || error || "see the execution in Step Functions"}`,
  );
}

/** Progress of the map run that was started last. */
async function progressOf(
  client: SFNClient,
  executionArn: string | undefined,
): Promise<BucketProgress | undefined> {
  const { mapRuns = [] } = await client.send(new ListMapRunsCommand({ executionArn }), inTime());
  const [last] = mapRuns.sort((one, other) => Number(other.startDate) - Number(one.startDate));
  if (last?.mapRunArn === undefined) return undefined;
  const { itemCounts } = await client.send(
    new DescribeMapRunCommand({ mapRunArn: last.mapRunArn }),
    inTime(),
  );
  const { succeeded = 0, total = 0 } = itemCounts ?? {};
  // …:mapRun:state-machine/label:id
  const map = /\/([^:]+):[^:]+$/.exec(last.mapRunArn)?.[1] ?? "";
  return { map, done: succeeded, all: total };
}
