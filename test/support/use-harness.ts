import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import type { Job } from "../../functions/population-density/delivery/job.ts";
import type { QueueName } from "../../shared/sqs/queues.ts";
import { useTables } from "./database.ts";
import { type Harness, openHarness, storeDensities, storeJob } from "./jobs.ts";
import { captureOutput } from "./pipeline.ts";
import { openSink, type TestSink } from "./sink.ts";
import { someJob } from "./some-job.ts";

type Settings = Parameters<typeof openHarness>[0];

/** Opens a harness for the surrounding tests; each begins without faults and with captured output. */
export function useHarness(settings?: Settings) {
  let harness: Harness;
  let output: ReturnType<typeof captureOutput>;
  beforeAll(async () => {
    harness = await openHarness(settings);
  });
  afterAll(() => harness.close());
  beforeEach(() => {
    output = captureOutput();
  });
  afterEach(() => {
    output.stop();
    harness.tables.inject();
    harness.queues.inject();
  });
  return { harness: () => harness, output: () => output };
}

/** A harness that delivers jobs of stored densities from a queue to a sink of each test, without waits. */
export function useDeliveries(queue: QueueName) {
  const { harness, output } = useHarness();
  let densities: Awaited<ReturnType<typeof storeDensities>>;
  let sink: TestSink;
  beforeAll(async () => {
    densities = await storeDensities();
  });
  beforeEach(async () => {
    vi.stubEnv("SINK_RETRY_SECONDS", "0,0,0");
    sink = await openSink();
  });
  afterEach(async () => {
    await sink.close();
    await harness().purge(queue);
  });
  /** Stores a job with its place, and receives a message of it. */
  const queued = async (url: string, changes: Partial<Job> = {}) => {
    const job = await storeJob(someJob(url, densities.request, changes));
    await harness().send(queue, job);
    return { job, message: await harness().receive(queue) };
  };
  return { harness, output, densities: () => densities, sink: () => sink, queued };
}

/** Densities of the started service, a request for them, and a sink for all surrounding tests. */
export function useRequestAndSink() {
  let request: Job["request"];
  let sink: TestSink;
  beforeAll(async () => {
    useTables();
    ({ request } = await storeDensities());
    sink = await openSink();
  });
  afterAll(() => sink.close());
  return { request: () => request, sink: () => sink };
}
