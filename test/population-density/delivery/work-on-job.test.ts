import { expect, test } from "vitest";
import type { Job } from "../../../functions/population-density/delivery/job.ts";
import type { WorkerPorts } from "../../../functions/population-density/delivery/ports.ts";
import type { SendResult } from "../../../functions/population-density/delivery/rules.ts";
import { workOn } from "../../../functions/population-density/delivery/work-on-job.ts";
import { Unavailable } from "../../../shared/errors.ts";
import { someJob } from "../../support/some-job.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./model/memory-stores.ts";

const now = Date.UTC(2026, 10, 20);
const { signal } = new AbortController();
const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };

/** Jobs in memory, and a worker whose sinks answer all attempts alike. */
function aWorker(sent: SendResult, { before = (_call: string) => {} } = {}) {
  const jobs = new MemoryJobs();
  const stores = portsOf(jobs, new MemoryPermits(), async (name, run) => {
    before(name);
    return run();
  });
  const ports: WorkerPorts = {
    ...stores,
    sinks: { post: async () => sent, hostOf: () => "host" },
    clock: { now: () => now, deadline: () => signal, pause: async () => {} },
    random: () => 0.5,
    newId: () => crypto.randomUUID(),
    log: () => {},
    writeMetrics: () => {},
    schedule: [2, 10, 60, 300],
    workers: 10,
  };
  const store = (changes: Partial<Job> = {}) => {
    const job = someJob("https://sink.example.com/", request, { requestedAt: now, ...changes });
    jobs.store(job, undefined);
    return job;
  };
  const work = ({ operationId }: Job) => workOn({ operationId, sentAt: now, receives: 1 }, ports, signal);
  return { jobs, store, work };
}

test("2 MB are sent again to a host of which the store does not say whether it has answered 2xx", async () => {
  const sent = { outcome: "failed", status: 503, sentWhole: false, bytes: 2_000_000 } as const;
  const { jobs, store, work } = aWorker(sent, {
    before: (call) => {
      if (call === "hasAccepted") throw new Unavailable("density-permits", "TimeoutError");
    },
  });
  const job = store({ attempts: 2 });

  await work(job);

  expect(jobs.read(job.operationId)).toMatchObject({ state: "pending", mode: "answer", attempts: 3 });
});

test.each([
  ["has failed", { attempts: 1 }],
  ["has ended", { state: "delivered", pendingSince: undefined }],
] as const)(
  "a worker leaves a job that %s as it is, although the index shows it as waiting",
  async (_, changes) => {
    const late = aWorker({ outcome: "delivered", status: 204, sentWhole: true, bytes: 1 });
    const job = late.store({ waitsFor: "host" });
    const entries = late.jobs.waitingFor("host");
    late.jobs.waitingFor = () => entries;
    const changed = { ...job, ...changes };
    late.jobs.jobs.set(job.operationId, changed);

    expect(await late.work(late.store())).toBe("ack");

    expect(late.jobs.read(job.operationId)).toEqual(changed);
  },
);
