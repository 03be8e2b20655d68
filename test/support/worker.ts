import { beforeAll, expect, vi } from "vitest";
import { densityJobs } from "../../functions/population-density/delivery/tables.ts";
import { spansOf } from "../../functions/population-density/tiles/span.ts";
import { typicalDay } from "../../functions/population-density/tiles/store.ts";
import { densities as densityTable } from "../../functions/population-density/tiles/table.ts";
import { putItem } from "../../shared/aws/database.ts";
import { type Harness, pendingOf, run, storeDensities, storedJob, type storeJob } from "./jobs.ts";
import { useDeliveries } from "./use-harness.ts";

type Handler = typeof import("../../functions/population-density/delivery/deliver.ts").handler;

/** The delivery worker as SQS invokes it, with jobs of stored densities and a sink for each test. */
export function useWorker() {
  const deliveries = useDeliveries("density-jobs");
  const { harness } = deliveries;
  let handler: Handler;
  beforeAll(async () => {
    ({ handler } = await import("../../functions/population-density/delivery/deliver.ts"));
  });
  const deliver: Handler = (event, context) => handler(event, context);
  /** What happened to a message: acknowledged, hidden for so many seconds, or kept unchanged. */
  const delivered = async (message: Awaited<ReturnType<Harness["receive"]>>) => {
    const before = harness().hidden(message).length;
    const failures = await run(deliver, message);
    const hidden = harness().hidden(message).slice(before);
    if (failures.length === 0) {
      expect(hidden).toEqual([]);
      return "ack";
    }
    return hidden.length === 0 ? "kept" : hidden[0];
  };
  return { ...deliveries, deliver, delivered };
}

/** What the service's deliveries run on, with another clock: to be called once a harness is open. */
export async function deliveryPorts(now: () => number = Date.now) {
  const { sharedPorts, send } = await import("../../functions/population-density/delivery/service-ports.ts");
  const { jobStore } = await import("../../functions/population-density/delivery/job-store.ts");
  return { ...sharedPorts, clock: { ...sharedPorts.clock, now }, jobs: jobStore, queues: { send } };
}

/** Runs a sweep at a time. */
export async function sweepAt(now: number): Promise<void> {
  const { sweep } = await import("../../functions/population-density/delivery/sweep-jobs.ts");
  const ports = { ...(await deliveryPorts(() => now)), newestObservedDay: async () => undefined };
  await sweep(ports, AbortSignal.timeout(10_000));
}

/** Sets the waits between attempts for the test that runs. */
export function schedule(seconds: string): void {
  vi.stubEnv("SINK_RETRY_SECONDS", seconds);
}

/** A gate at which a sink waits until the test lets it answer. */
export function held() {
  let answer = () => {};
  const after = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return { answer, after };
}

const secret = /^(?:sink|accessToken)$/;

/** Expects a job to have ended in a state, without its sink, and no longer counted as pending. */
export async function expectEnd(job: Awaited<ReturnType<typeof storeJob>>, state: string) {
  const stored = (await storedJob(job.operationId)) ?? {};
  expect(stored.state).toBe(state);
  expect(Object.keys(stored).filter((name) => secret.test(name))).toEqual([]);
  expect(await pendingOf(job.caller)).toEqual(new Set());
}

/** The number of uploads in progress to a sink's host. */
export async function uploadsTo(url: string): Promise<number> {
  const { permitStore } = await import("../../functions/population-density/delivery/permit-store.ts");
  const { sinks } = await import("../../functions/population-density/delivery/send.ts");
  const permits = await permitStore.read(AbortSignal.timeout(60_000));
  const hash = sinks.hostOf(url);
  return permits.filter(({ host, until }) => hash.startsWith(host) && until > Date.now()).length;
}

/** The notice that an operation has failed. */
export const failure = (operationId: string) => ({
  operationId,
  status: "OPERATION_NOT_COMPLETED",
  timedPopulationDensityData: [],
  statusInfo: expect.stringMatching(/./),
});

/** Advances the time to the next attempt. */
export async function makeDue(job: Awaited<ReturnType<typeof storeJob>>): Promise<void> {
  const stored = await storedJob(job.operationId);
  if (stored?.state !== "pending") return;
  await putItem(densityJobs, { ...stored, notBefore: Date.now() - 1 }, {}, AbortSignal.timeout(60_000));
}

/** A request for a tile whose stored bytes are invalid. */
export const brokenRequest = once(async () => {
  const { tile, request } = await storeDensities();
  await breakTile(tile);
  return request;
});

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Replaces the stored bytes of a tile by invalid ones. */
async function breakTile(tile: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  for (const span of [1, 2, 3, 4, 5, 6, 7].flatMap((weekday) => spansOf(typicalDay(weekday)))) {
    const item = { tile: `7/${tile}`, day: span, hours: Buffer.from("not a tile"), revision: 1 };
    await putItem(densityTable, item, {}, signal);
  }
}
