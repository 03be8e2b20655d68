import { beforeAll, describe, expect, test, vi } from "vitest";
import { densityCallers } from "../../../functions/population-density/callers/tables.ts";
import {
  type Job,
  pendingShards,
  retentionSeconds,
} from "../../../functions/population-density/delivery/job.ts";
import { jobStore } from "../../../functions/population-density/delivery/job-store.ts";
import type { Sending } from "../../../functions/population-density/delivery/rules.ts";
import { hashed } from "../../../shared/hash.ts";
import { tableVariable } from "../../../shared/table.ts";
import { useTables } from "../../support/database.ts";
import { boxIn, freshTile } from "../../support/densities.ts";
import { pendingOf, requestIn, storedJob, storeJob, useOwnJobs } from "../../support/jobs.ts";
import { captureOutput } from "../../support/pipeline.ts";
import { seeded } from "../../support/random.ts";
import { runs } from "../../support/sample.ts";
import { someJob } from "../../support/some-job.ts";
import { MemoryJobs, MemoryPermits, portsOf } from "./model/memory-stores.ts";

const signal = () => AbortSignal.timeout(60_000);
const minute = 60_000;

beforeAll(async () => {
  useTables();
  await useOwnJobs();
});

const leaseAt = (now: number) => ({ id: "lease-1", mode: "answer", now, until: now + minute }) as const;
const givenUp = { mode: "failure", failureCause: "time over" } as const;
const delivered = {
  outcome: "delivered",
  reason: "delivered",
  lastAttempt: { number: 1, at: 0, outcome: "delivered" },
} as const;

function aJob(changes: Partial<Job> = {}): Job {
  const request = requestIn(boxIn(freshTile(), [1, 1], [2, 2]));
  return someJob("https://sink.example.com/a?b=c", request, { accessToken: "token", ...changes });
}

describe("the store of jobs", () => {
  test("a stored job has every member, takes a place of its caller, and loses sink and token at its end", async () => {
    const job = aJob({ accessTokenExpiresAt: Date.now() + minute });
    expect(await jobStore.reservePlace(job, 20, signal())).toBe(true);
    expect(await jobStore.store(job, undefined, signal())).toBe(true);
    expect(await jobStore.read(job.operationId, signal())).toEqual(job);
    expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));

    expect(await jobStore.acquireLease(job, leaseAt(Date.now()), signal())).toBe(true);
    expect(await jobStore.finish(job, "lease-1", delivered, signal())).toBe(true);

    const stored = (await storedJob(job.operationId)) ?? {};
    expect(stored).toMatchObject({ state: "delivered", reason: "delivered", attempts: 1 });
    for (const member of ["sink", "accessToken", "notBefore", "pendingSince", "pendingShard"]) {
      expect(stored).not.toHaveProperty(member);
    }
    expect(await pendingOf(job.caller)).toEqual(new Set());
  });

  test("a stored job keeps coordinates of 5e-324 and 0.30000000000000004 exactly", async () => {
    const boundary = [
      { latitude: 0, longitude: -1e-300 },
      { latitude: 5e-324, longitude: 0.1 },
      { latitude: 0.1, longitude: 0.30000000000000004 },
    ];
    const job = aJob({ request: requestIn(boundary) });
    await jobStore.store(job, undefined, signal());
    expect((await jobStore.read(job.operationId, signal()))?.request.area.boundary).toEqual(boundary);
  });

  test("12 simultaneous jobs of a caller with a limit of 5 get 5 places, each counted once when it is reserved again", async () => {
    const caller = hashed(crypto.randomUUID());
    const jobs = Array.from({ length: 12 }, () => aJob({ caller }));
    const reserved = await Promise.all(jobs.map((job) => jobStore.reservePlace(job, 5, signal())));
    expect(reserved.filter((is) => is)).toHaveLength(5);
    const inPlace = jobs.filter((_, index) => reserved[index]).map(({ operationId }) => operationId);
    expect(await pendingOf(caller)).toEqual(new Set(inPlace));
    // Reserved once more, as after a response that was lost, a place counts once.
    for (const job of jobs.filter((_, index) => reserved[index])) {
      expect(await jobStore.reservePlace(job, 5, signal())).toBe(true);
    }
    expect(await pendingOf(caller)).toEqual(new Set(inPlace));
  });

  test("the pending jobs of all 16 shards are listed once, oldest first", async () => {
    const over = await storeJob(aJob({ state: "delivered" }));
    const stored: Job[] = [];
    const now = Date.now();
    for (const [index, digit] of [..."0123456789abcdef"].entries()) {
      const operationId = `${crypto.randomUUID().slice(0, -1)}${digit}`;
      const requestedAt = now - 1_000 * index;
      stored.unshift(await storeJob(aJob({ operationId, requestedAt, queuedAt: 5 })));
    }

    const listed = await jobStore.pending(signal());

    const items = await Promise.all(stored.map(({ operationId }) => storedJob(operationId)));
    expect(new Set(items.map((item) => item?.pendingShard))).toEqual(new Set(pendingShards));
    const isOfTest = new Set([over, ...stored].map(({ operationId }) => operationId));
    expect(listed.filter(({ operationId }) => isOfTest.has(operationId))).toEqual(
      stored.map(({ operationId, pendingSince }) => ({ operationId, pendingSince, queuedAt: 5 })),
    );
  });

  test("a job whose place cannot be freed ends as delivered, and its place is freed later", async () => {
    const job = await storeJob(aJob());
    const now = Date.now();
    await jobStore.acquireLease(job, leaseAt(now), signal());
    const table = process.env[tableVariable(densityCallers)] ?? "";
    vi.stubEnv(tableVariable(densityCallers), "a-table-that-does-not-exist");
    const output = captureOutput();
    const isFinished = await jobStore.finish(job, "lease-1", delivered, signal());
    output.stop();
    vi.stubEnv(tableVariable(densityCallers), table);

    expect(isFinished).toBe(true);
    expect(output.text()).toContain('"NCS-002"');
    expect(await storedJob(job.operationId)).toMatchObject({ state: "delivered" });
    expect(await jobStore.freeEnded(job.caller, now, signal())).toBe(1);
  });

  test("a caller's 100 places of jobs that were never stored are freed in one call", async () => {
    const caller = hashed(crypto.randomUUID());
    const requestedAt = Date.now() - 2 * minute;
    for (let index = 0; index < 100; index++) {
      await jobStore.reservePlace(aJob({ caller, requestedAt }), 100, signal());
    }
    expect(await jobStore.freeEnded(caller, Date.now(), signal())).toBe(100);
    expect(await pendingOf(caller)).toEqual(new Set());
  });
});

/** Random calls on few jobs: the same of the table and of the model's memory. */
async function compare(seed: number): Promise<void> {
  const random = seeded(seed);
  const pick = <Choice>(choices: readonly Choice[]) =>
    choices[Math.floor(random() * choices.length)] as Choice;
  const memory = new MemoryJobs();
  const { jobs: inMemory } = portsOf(memory, new MemoryPermits(), async (_, run) => run());
  const ids = [crypto.randomUUID(), crypto.randomUUID()];
  const callers = [hashed(crypto.randomUUID()), hashed(crypto.randomUUID())];
  const intakes = ["intake-1", "intake-2", "intake-3"];
  const leases = ["lease-1", "lease-2"];
  const request = requestIn(boxIn(freshTile(), [1, 1], [2, 2]));
  const start = Date.now();
  for (let step = 0; step < 40; step++) {
    const operationId = pick(ids);
    // The caller is part of what makes an id.
    const caller = callers[ids.indexOf(operationId)] ?? "";
    const now = start + pick([0, 1_000, minute, 25 * 60 * minute]);
    const job = someJob("https://sink.example.com/", request, {
      operationId,
      caller,
      intake: pick(intakes),
      requestedAt: now,
      expiresAt: Math.ceil(now / 1_000) + retentionSeconds,
    });
    const seen = memory.read(operationId);
    const replaces = random() < 0.5 && seen?.state === "withdrawn" ? seen : undefined;
    const lease = {
      id: pick(leases),
      ...pick<Sending>([{ mode: "answer" }, { mode: "failure" }, givenUp]),
      now,
      until: now + minute,
    };
    const lastAttempt = { number: 1, at: now, outcome: "failed", status: pick([500, 503]) } as const;
    const retry = {
      ...pick<Sending>([{ mode: lease.mode }, givenUp]),
      possiblyDelivered: random() < 0.5,
      notBefore: now + 5_000,
      lastAttempt,
    };
    const end = {
      outcome: pick(["delivered", "refused", "failed"] as const),
      reason: "a",
      lastAttempt,
    };
    const limit = pick([0, 1, 20]);
    const heldBackAt = pick([now, undefined]);
    const callsOn = (store: typeof inMemory) => ({
      reservePlace: () => store.reservePlace(job, limit, signal()),
      store: () => store.store(job, replaces, signal()),
      promise: () => store.promise(job, signal()),
      withdraw: () => store.withdraw(job, replaces, signal()),
      freeEnded: () => store.freeEnded(caller, now, signal()),
      markQueued: () => store.markQueued(operationId, now, signal()),
      markWaiting: () => store.markWaiting(operationId, caller, heldBackAt, signal()),
      requestMessage: () => store.requestMessage(operationId, signal()),
      acquireLease: () => store.acquireLease(seen ?? job, lease, signal()),
      markPossiblyDelivered: () => store.markPossiblyDelivered(operationId, lease.id, signal()),
      scheduleRetry: () => store.scheduleRetry(operationId, lease.id, retry, signal()),
      cancel: () => store.cancel(seen ?? job, signal()),
      finish: () => store.finish(job, lease.id, end, signal()),
      endWithoutAttempt: () => store.endWithoutAttempt(seen ?? job, lease.id, end, now, signal()),
    });
    const name = pick(Object.keys(callsOn(jobStore)) as (keyof ReturnType<typeof callsOn>)[]);
    const expected = await callsOn(inMemory)[name]();
    // The real store does so after it has ended a job, in a write of its own.
    if (expected === true && ["withdraw", "cancel", "finish", "endWithoutAttempt"].includes(name))
      memory.freePlace(job, name === "withdraw" ? job.requestedAt : undefined);
    expect([name, step, await callsOn(jobStore)[name]()]).toEqual([name, step, expected]);
    expect(await jobStore.read(operationId, signal())).toEqual(memory.read(operationId));
    expect(await pendingOf(caller)).toEqual(new Set(memory.placesOf(caller).keys()));
  }
}

test.each(Array.from({ length: runs(12, 2) }, (_, seed) => seed))(
  "40 random calls give the same results in DynamoDB and in the model's memory, seed %i",
  async (seed) => {
    await compare(seed);
  },
);
