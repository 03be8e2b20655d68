import { setTimeout as wait } from "node:timers/promises";
import type { Permit } from "../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../functions/population-density/delivery/permit-store.ts";
import { acquirePermit, releasePermit } from "../../functions/population-density/delivery/permits.ts";
import { densityPermits } from "../../functions/population-density/delivery/tables.ts";
import { hashed } from "../../shared/hash.ts";
import { tableVariable } from "../../shared/table.ts";
import { embeddedCredentials } from "../local/servers/backing-server.ts";
import { createTables, openDatabase } from "../local/servers/database.ts";
import { declaredTable } from "../local/servers/declared-table.ts";
import { openMeteredDatabase } from "../local/servers/metered-database.ts";
import { atLeast, atMost, inUnit, type Row, shown, times } from "./bench.ts";

/** What is measured by `permitRows`. */
export const aboutPermits = [
  "How soon many workers have permits that all ask at once, each for another caller and host, in the embedded DynamoDB,",
  "which is one thread; and what that costs, as it counts it. A partition of DynamoDB takes 1,000 write units a second:",
  "the rate of attempts is what it allows while so many are under way.",
].join("\n");

/** Write units a second of a partition. */
const partitionUnits = 1_000;

/** What permits take when 10, 50 and 200 workers ask for them at once. */
export async function permitRows(): Promise<readonly Row[]> {
  const store = await openDatabase(undefined);
  const counting = await openMeteredDatabase(store.endpoint);
  const { accessKeyId, secretAccessKey } = embeddedCredentials;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: counting.url,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    DEADLINE_FACTOR: "10",
  });
  try {
    const rows: Row[] = [];
    for (const workers of [10, 50, 200]) {
      const table = declaredTable(densityPermits, `permits-${workers}`);
      await createTables(store.endpoint, embeddedCredentials, [table]);
      process.env[tableVariable(densityPermits)] = table.name;
      rows.push(...(await rowsOf(workers, () => counting.taken().writes)));
    }
    return rows;
  } finally {
    await counting.close();
    await store.close();
  }
}

const maxSeconds = 5;
const maxPartitionSeconds = 2;
const minAttemptsPerSecond = 40;

async function rowsOf(workers: number, writeUnits: () => number): Promise<readonly Row[]> {
  const signal = AbortSignal.timeout(120_000);
  const ports = {
    permits: permitStore,
    clock: { now: () => Date.now(), pause: (milliseconds: number) => wait(milliseconds) },
    workers,
  };
  const permits = Array.from({ length: workers }, (_, index) => permitOf(index));
  writeUnits();
  const started = performance.now();
  const refused = await Promise.all(permits.map((permit) => acquirePermit(permit, ports, signal)));
  const seconds = (performance.now() - started) / 1_000;
  if (refused.some((one) => one !== undefined)) throw new Error("a worker has no permit");
  const acquired = writeUnits();
  const further = permitOf(workers);
  await acquirePermit(further, { ...ports, workers: workers + 2 }, signal);
  await releasePermit(further, permitStore, signal);
  const attempt = writeUnits();
  return [
    atMost(`${workers} workers at once: until all have permits`, seconds, maxSeconds, inUnit("s", 2)),
    atMost(
      `${workers} workers at once: write units, over those of a partition in a second`,
      acquired / partitionUnits,
      maxPartitionSeconds,
      times,
    ),
    shown(`${workers} under way: write units of an attempt`, `${attempt} units`),
    atLeast(
      `${workers} under way: attempts a second`,
      partitionUnits / attempt,
      minAttemptsPerSecond,
      (rate) => rate.toFixed(0),
    ),
  ];
}

function permitOf(index: number): Permit {
  const now = Date.now();
  const [host, caller] = [hashed(`host ${index}`), hashed(`caller ${index}`)];
  return { holder: crypto.randomUUID(), host, caller, mode: "answer", since: now, until: now + 330_000 };
}
