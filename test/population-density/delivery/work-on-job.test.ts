import { expect, test } from "vitest";
import type { Job } from "../../../functions/population-density/delivery/job.ts";
import { shortened } from "../../../functions/population-density/delivery/permit-rules.ts";
import type { WorkerPorts } from "../../../functions/population-density/delivery/ports.ts";
import type { SendResult } from "../../../functions/population-density/delivery/rules.ts";
import { workOn } from "../../../functions/population-density/delivery/work-on-job.ts";
import type { Count } from "../../../shared/aws/metrics.ts";
import { Unavailable } from "../../../shared/errors.ts";
import { hashed } from "../../../shared/hash.ts";
import { someJob } from "../../support/some-job.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./model/memory-stores.ts";

const now = Date.UTC(2026, 10, 20);
const { signal } = new AbortController();
const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };

/** Jobs in memory, and a worker whose sinks answer all attempts alike. */
function aWorker(
  sent: SendResult | Error,
  { before = (_call: string) => {}, after = (_call: string) => {} } = {},
) {
  const [jobs, permits] = [new MemoryJobs(), new MemoryPermits()];
  const measured: Count[] = [];
  const stores = portsOf(jobs, permits, async (name, run) => {
    before(name);
    const value = run();
    after(name);
    return value;
  });
  const ports: WorkerPorts = {
    ...stores,
    sinks: {
      post: async () => {
        if (sent instanceof Error) throw sent;
        return sent;
      },
      hostOf: () => "host",
    },
    clock: { now: () => now, deadline: () => signal, pause: async () => {} },
    random: () => 0.5,
    newId: () => crypto.randomUUID(),
    log: (_event, _details, counts = []) => void measured.push(...counts),
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
  return { jobs, permits, measured, store, work };
}

const delivered = { outcome: "delivered", status: 204, sentWhole: true, bytes: 1 } as const;

test.each([
  { is: "waits for a worker since its request", changes: {}, measured: [600] },
  {
    is: "was held back by its own uploads 5 min ago",
    changes: { heldBackAt: now - 300_000 },
    measured: [300],
  },
  { is: "is still held back by its own uploads", changes: { heldBackAt: now - 30_000 }, measured: [] },
  { is: "has had an attempt", changes: { attempts: 1, startedAt: now - 1 }, measured: [] },
])(
  "a job of 10 min that $is is measured to have waited $measured s for a worker",
  async ({ changes, ...is }) => {
    const { measured, store, work } = aWorker(delivered);

    await work(store({ requestedAt: now - 600_000, ...changes }));

    const waits = measured.filter(({ metric }) => metric === "FirstAttemptSeconds");
    expect(waits.map(({ value }) => value)).toEqual(is.measured);
  },
);

test.each([
  { by: "three uploads of its caller to its host", of: ["own", "own", "own"], heldBackAt: now },
  {
    by: "an upload of its caller and four of others",
    of: ["own", "a", "b", "c", "d"],
    heldBackAt: undefined,
  },
])("a job that is held back by $by is recorded as held back at $heldBackAt", async ({ of, heldBackAt }) => {
  const { jobs, permits, store, work } = aWorker(delivered);
  const caller = hashed("own");
  for (const [holder, name] of of.entries()) {
    const host = name === "own" ? "host" : name;
    const taken = { host, caller: hashed(name), mode: "answer", since: now, until: now + 1 } as const;
    permits.add(shortened({ ...taken, holder: String(holder) }));
  }
  const job = store({ caller });

  expect(await work(job)).toEqual({ retryInSeconds: expect.any(Number) });

  expect(jobs.read(job.operationId)).toMatchObject({ waitsFor: "host", attempts: 0 });
  expect(jobs.read(job.operationId)?.heldBackAt).toBe(heldBackAt);
});

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

test("a worker whose request for a permit gets no response releases the permit, so that no upload waits until it expires", async () => {
  const { permits, store, work } = aWorker(delivered, {
    after: (call) => {
      if (call === "addPermit") throw new Unavailable("density-permits", "TimeoutError");
    },
  });

  await expect(work(store())).rejects.toThrow(Unavailable);

  expect(permits.read()).toEqual([]);
});

test.each([
  ["has failed", { attempts: 1 }],
  ["has ended", { state: "delivered", pendingSince: undefined }],
] as const)(
  "a worker leaves a job that %s as it is, although the index shows it as waiting",
  async (_, changes) => {
    const late = aWorker(delivered);
    const job = late.store({ waitsFor: "host" });
    const entries = late.jobs.waitingFor("host");
    late.jobs.waitingFor = () => entries;
    const changed = { ...job, ...changes };
    late.jobs.jobs.set(job.operationId, changed);

    expect(await late.work(late.store())).toBe("ack");

    expect(late.jobs.read(job.operationId)).toEqual(changed);
  },
);

test("an attempt whose answer cannot be computed is counted, at any level of the log", async () => {
  const { measured, store, work } = aWorker(new TypeError("no tile"));
  await work(store());
  expect(measured).toContainEqual({ metric: "JobsNotComputed" });
});

test.each([
  ["delivered", delivered, [0]],
  ["refused", { outcome: "refused", status: 410, sentWhole: true, bytes: 1 } as const, [0]],
  ["failed", { outcome: "failed", status: 503, sentWhole: true, bytes: 1 } as const, [1]],
])(
  "a delivery that is %s at its last attempt is measured once, as a failure or none",
  async (_, sent, values) => {
    const { measured, store, work } = aWorker(sent);
    await work(store({ attempts: 4, startedAt: now - 1 }));
    expect(measured.flatMap((one) => (one.metric === "FailedDeliveries" ? [one.value] : []))).toEqual(values);
  },
);

test("a delivery that failed and is tried again is not measured as one that has ended", async () => {
  const { measured, store, work } = aWorker({ outcome: "failed", status: 503, sentWhole: true, bytes: 1 });
  await work(store());
  expect(measured.map(({ metric }) => metric)).not.toContain("FailedDeliveries");
});
