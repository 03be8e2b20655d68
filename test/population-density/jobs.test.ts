import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Job } from "../../functions/population-density/job.ts";
import {
  admitOperation,
  claimJob,
  disclaimJob,
  dismissOperations,
  endJob,
  expiryFrom,
  giveSlotBack,
  goRound,
  leaseJob,
  ofCaller,
  ofHost,
  readJob,
  returnJob,
  takeSlot,
} from "../../functions/population-density/jobs.ts";
import { getItem } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { useTables } from "../support/database.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import { newJob, pendingOf, requestIn, storedJob, storeJob } from "../support/jobs.ts";

const signal = () => AbortSignal.timeout(10_000);
const minute = 60_000;
const day = 86_400_000;

beforeAll(useTables);

function someJob(changes: Partial<Job> = {}): Job {
  const request = requestIn(boxIn(freshTile(), [1, 1], [2, 2]));
  return newJob("https://sink.example.com/a?b=c", request, { accessToken: "token", ...changes });
}

/** What each of some callers at the same time gets. */
async function many<Value>(count: number, run: (index: number) => Promise<Value>): Promise<Value[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => run(index)));
}

const twenty = <Value>(run: (index: number) => Promise<Value>) => many(20, run);

const isTrue = (value: unknown) => value === true;

describe("a new job", () => {
  test("is stored with all its members and read again, once for its id", async () => {
    const { claims: _, ...job } = someJob();
    const now = new Date();
    expect(await readJob(job.operationId, now, signal())).toBeUndefined();

    expect(await claimJob(job, "request", now, signal())).toBe(true);

    expect(await readJob(job.operationId, now, signal())).toEqual({ ...job, claims: new Set(["request"]) });
  });

  test("joins those that ask for the same: the first is kept, and each has to queue it", async () => {
    const { claims: _, ...job } = someJob();
    const requests = await many(8, (index) =>
      claimJob({ ...job, correlator: `c-${index}` }, `request-${index}`, new Date(), signal()),
    );
    expect(requests.every(isTrue)).toBe(true);
    const stored = await readJob(job.operationId, new Date(), signal());
    expect(stored?.claims.size).toBe(8);
    expect(stored?.correlator).toMatch(/^c-\d+$/);
  });

  test("joins one request once, though it asks twice", async () => {
    const { claims: _, ...job } = someJob();
    for (let time = 0; time < 2; time++) {
      expect(await claimJob(job, "request", new Date(), signal())).toBe(true);
    }
    expect((await readJob(job.operationId, new Date(), signal()))?.claims).toEqual(new Set(["request"]));
  });

  test.each<[string, Partial<Job>]>([
    ["an attempt has begun", { attempts: 1 }],
    ["it is delivered", { state: "delivered", attempts: 1 }],
    ["it is abandoned", { state: "abandoned" }],
  ])("is not to be queued when there is one and %s; that one stays as it is", async (_, changes) => {
    const job = await storeJob(someJob(changes));
    const before = await storedJob(job.operationId);
    expect(await claimJob(job, "request", new Date(), signal())).toBe(false);
    expect(await storedJob(job.operationId)).toEqual(before);
  });

  test("takes the place of one that has expired, whatever became of that", async () => {
    const past = Math.floor(Date.now() / 1_000) - 1;
    const old = await storeJob(someJob({ state: "delivered", attempts: 3, expiresAt: past }));
    expect(await readJob(old.operationId, new Date(), signal())).toBeUndefined();
    const { claims: _, ...job } = someJob({ operationId: old.operationId });
    expect(await claimJob(job, "request", new Date(), signal())).toBe(true);
    expect(await storedJob(old.operationId)).toMatchObject({ state: "pending", attempts: 0 });
  });

  test("expires a day after it was asked for", () => {
    const now = new Date("2026-11-21T10:00:00.001Z");
    expect(new Date(expiryFrom(now) * 1_000).toISOString()).toBe("2026-11-22T10:00:01.000Z");
  });
});

describe("a request that is taken off its job", () => {
  test("takes the job with it when it was the only one", async () => {
    const job = await storeJob(someJob({ claims: new Set(["a"]) }));
    expect(await disclaimJob(job.operationId, "a", new Date(), signal())).toBe(true);
    expect(await storedJob(job.operationId)).toBeUndefined();
    expect(await disclaimJob(job.operationId, "a", new Date(), signal())).toBe(true);
  });

  test("leaves it to the others, and the last of many at once takes it", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `request-${index}`);
    const kept = await storeJob(someJob({ claims: new Set([...names, "promised"]) }));
    const taken = await storeJob(someJob({ claims: new Set(names) }));
    const disclaim = (job: Job) => async (index: number) =>
      await disclaimJob(job.operationId, `request-${index}`, new Date(), signal());

    const [others, all] = await Promise.all([many(8, disclaim(kept)), many(8, disclaim(taken))]);

    expect([...others, ...all].every(isTrue)).toBe(true);
    expect(await storedJob(kept.operationId)).toMatchObject({ claims: new Set(["promised"]) });
    expect(await storedJob(taken.operationId)).toBeUndefined();
  });

  test.each<[string, Partial<Job>]>([
    ["an attempt has begun", { attempts: 1 }],
    ["it is over", { state: "refused", attempts: 1 }],
  ])("takes nothing when %s", async (_, changes) => {
    const job = await storeJob(someJob({ claims: new Set(["a"]), ...changes }));
    expect(await disclaimJob(job.operationId, "a", new Date(), signal())).toBe(false);
    expect(await storedJob(job.operationId)).toMatchObject({ claims: new Set(["a"]) });
  });

  test("either takes the job or leaves it to the worker that begins at the same moment", async () => {
    const jobs = await many(10, () => storeJob(someJob({ claims: new Set(["a"]) })));
    const now = new Date();
    const outcomes = await Promise.all(
      jobs.map(
        async (job) =>
          await Promise.all([
            disclaimJob(job.operationId, "a", now, signal()),
            leaseJob(job, "lease", new Date(now.getTime() + minute), now, signal()),
          ]),
      ),
    );
    for (const [index, [isTaken, isLeased]] of outcomes.entries()) {
      expect(isTaken).toBe(!isLeased);
      expect((await storedJob(jobs[index]?.operationId ?? "")) === undefined).toBe(isTaken);
    }
  });
});

describe("a lease", () => {
  test("is had by one of many workers, and counts one attempt", async () => {
    const job = await storeJob(someJob());
    const now = new Date();
    const until = new Date(now.getTime() + minute);
    const got = await twenty((index) => leaseJob(job, `lease-${index}`, until, now, signal()));
    expect(got.filter(isTrue)).toHaveLength(1);
    expect(await storedJob(job.operationId)).toMatchObject({
      attempts: 1,
      lease: `lease-${got.indexOf(true)}`,
      leasedUntil: until.getTime(),
      mayBeDelivered: true,
    });
  });

  test("is free again at its last millisecond, not before", async () => {
    const now = new Date();
    const job = await storeJob(
      someJob({ lease: "gone", leasedUntil: now.getTime() + minute, attempts: 1, mayBeDelivered: true }),
    );
    const lease = (at: number) =>
      leaseJob(job, "mine", new Date(at + minute), new Date(now.getTime() + at), signal());
    expect(await lease(minute - 1)).toBe(false);
    expect(await lease(minute)).toBe(true);
    expect((await storedJob(job.operationId))?.attempts).toBe(2);
  });

  test("is not had by who read the job before another attempt was made", async () => {
    const job = await storeJob(someJob());
    const now = new Date();
    await leaseJob(job, "first", new Date(now.getTime() + minute), now, signal());
    await returnJob(job.operationId, "first", { mayBeDelivered: true, failing: false }, now, signal());
    expect(await leaseJob(job, "late", new Date(now.getTime() + minute), now, signal())).toBe(false);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, lease: "first" });
  });

  test.each(["delivered", "refused", "abandoned"] as const)(
    "is not had of a job that is %s",
    async (state) => {
      const job = await storeJob(someJob({ state }));
      expect(await leaseJob(job, "late", new Date(Date.now() + minute), new Date(), signal())).toBe(false);
      expect(await storedJob(job.operationId)).toMatchObject({ state, attempts: 0 });
    },
  );

  test("of a job that is not there brings none into being", async () => {
    const job = someJob();
    expect(await leaseJob(job, "lease", new Date(Date.now() + minute), new Date(), signal())).toBe(false);
    expect(await storedJob(job.operationId)).toBeUndefined();
  });
});

describe("a job that is given back", () => {
  const held = () => storeJob(someJob({ lease: "mine", leasedUntil: Date.now() + minute, attempts: 1 }));
  const left = { mayBeDelivered: false, failing: true };

  test("keeps what is known of it, and is free from the moment that is said", async () => {
    const job = await held();
    const due = new Date(Date.now() + 10 * minute);
    expect(await returnJob(job.operationId, "mine", left, due, signal())).toBe(true);
    const found = await readJob(job.operationId, new Date(), signal());
    expect(found).toMatchObject({ ...left, state: "pending", leasedUntil: due.getTime() });
    expect(found).toMatchObject({ sink: job.sink, accessToken: "token" });
    const lease = (at: number) =>
      leaseJob({ ...job, attempts: 1 }, "next", new Date(at + minute), new Date(at), signal());
    expect(await lease(due.getTime() - 1)).toBe(false);
    expect(await lease(due.getTime())).toBe(true);
  });

  test("has to be one's own", async () => {
    const job = await held();
    expect(await returnJob(job.operationId, "other", left, new Date(), signal())).toBe(false);
    expect(await endJob(job.operationId, "other", "delivered", signal())).toBe(false);
    expect(await storedJob(job.operationId)).toMatchObject({
      lease: "mine",
      state: "pending",
      failing: false,
    });
  });

  test("is not one that is over", async () => {
    const job = await held();
    await endJob(job.operationId, "mine", "refused", signal());
    expect(await returnJob(job.operationId, "mine", left, new Date(), signal())).toBe(false);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "refused", failing: false });
  });
});

describe("an end", () => {
  const ends = ["delivered", "refused", "abandoned"] as const;

  test.each(ends)("is for good, and erases sink and credential: %s", async (end) => {
    const job = await storeJob(someJob({ lease: "mine", leasedUntil: Date.now() + minute }));
    expect(await endJob(job.operationId, "mine", end, signal())).toBe(true);
    const stored = (await storedJob(job.operationId)) ?? {};
    expect(stored.state).toBe(end);
    for (const member of ["sink", "accessToken", "leasedUntil"]) expect(stored).not.toHaveProperty(member);
    expect(await endJob(job.operationId, "mine", end, signal())).toBe(true);
    for (const other of ends.filter((name) => name !== end)) {
      expect(await endJob(job.operationId, "mine", other, signal())).toBe(false);
    }
    expect((await storedJob(job.operationId))?.state).toBe(end);
  });

  test("is of one kind, whoever comes to it at the same time", async () => {
    const job = await storeJob(someJob({ lease: "mine", leasedUntil: Date.now() + minute }));
    const kinds = await twenty(async (index) => {
      const end = ends[index % ends.length] ?? "delivered";
      return (await endJob(job.operationId, "mine", end, signal())) ? end : undefined;
    });
    expect(new Set(kinds.filter((end) => end !== undefined))).toEqual(
      new Set([(await storedJob(job.operationId))?.state]),
    );
  });
});

describe("the pending operations of a caller", () => {
  const caller = () => hashed(crypto.randomUUID());

  /** Stores jobs of a caller without counting them. */
  async function jobsOf(of: string, count: number, changes: Partial<Job> = {}): Promise<string[]> {
    const ids = [];
    for (let index = 0; index < count; index++) {
      const job = await storeJob(someJob({ caller: hashed(crypto.randomUUID()), ...changes }));
      ids.push(job.operationId);
    }
    expect(await pendingOf(of)).toEqual(new Set());
    return ids;
  }

  test("are as many as the limit and no more, however many come at once", async () => {
    const of = caller();
    const ids = await jobsOf(of, 20);
    const now = new Date();
    const admitted = await twenty((index) => admitOperation(of, ids[index] ?? "", 7, now, signal()));
    expect(admitted.filter(isTrue)).toHaveLength(7);
    expect(await pendingOf(of)).toEqual(new Set(ids.filter((_, index) => admitted[index])));
  });

  test("count one that comes again once, also at the limit", async () => {
    const of = caller();
    const [one = "", other = ""] = await jobsOf(of, 2);
    const admit = (id: string) => admitOperation(of, id, 1, new Date(), signal());
    expect(await twenty(() => admit(one))).toEqual(Array.from({ length: 20 }, () => true));
    expect(await admit(other)).toBe(false);
    expect(await pendingOf(of)).toEqual(new Set([one]));
  });

  test("are none when the limit is none", async () => {
    const of = caller();
    const [one = ""] = await jobsOf(of, 1);
    expect(await admitOperation(of, one, 0, new Date(), signal())).toBe(false);
    expect(await pendingOf(of)).toEqual(new Set());
  });

  test("make room when they end, one at a time or many", async () => {
    const of = caller();
    const ids = await jobsOf(of, 5);
    const admit = (id: string) => admitOperation(of, id, 3, new Date(), signal());
    for (const id of ids.slice(0, 3)) await admit(id);
    expect(await admit(ids[3] ?? "")).toBe(false);
    await dismissOperations(of, ids.slice(0, 1), signal());
    expect(await admit(ids[3] ?? "")).toBe(true);
    await dismissOperations(of, ids.slice(1, 4), signal());
    expect(await pendingOf(of)).toEqual(new Set());
    expect(await admit(ids[4] ?? "")).toBe(true);
  });

  test.each<[string, Partial<Job>]>([
    ["that ended", { state: "delivered" }],
    ["that were given up", { state: "abandoned" }],
    ["that have expired", { expiresAt: 1 }],
  ])("do not go on counting those %s without being taken off", async (_, changes) => {
    const of = caller();
    const over = await jobsOf(of, 2, changes);
    const alive = await jobsOf(of, 2);
    const admit = (id: string) => admitOperation(of, id, 3, new Date(), signal());
    for (const id of [...over, alive[0] ?? ""]) expect(await admit(id)).toBe(true);
    expect(await admit(alive[1] ?? "")).toBe(true);
    expect(await pendingOf(of)).toEqual(new Set(alive));
  });

  test("do not go on counting those whose job was taken back", async () => {
    const of = caller();
    const [one = ""] = await jobsOf(of, 1);
    await admitOperation(of, crypto.randomUUID(), 1, new Date(), signal());
    expect(await admitOperation(of, one, 1, new Date(), signal())).toBe(true);
    expect(await pendingOf(of)).toEqual(new Set([one]));
  });

  test("are exact also while they heal under many requests", async () => {
    const of = caller();
    const over = await jobsOf(of, 10, { state: "delivered" });
    for (const id of over) await admitOperation(of, id, 10, new Date(), signal());
    const fresh = await twenty(async () => (await storeJob(someJob())).operationId);
    const admitted = await twenty((index) =>
      admitOperation(of, fresh[index] ?? "", 10, new Date(), signal()),
    );
    expect(admitted.filter(isTrue)).toHaveLength(10);
    expect((await pendingOf(of)).size).toBe(10);
  });

  test("of callers who have none are taken off without bringing anything into being", async () => {
    const of = caller();
    await dismissOperations(of, ["one"], signal());
    expect(await pendingOf(of)).toEqual(new Set());
  });
});

describe("the slots of a host", () => {
  const hostOf = () => `${crypto.randomUUID()}.example.com:443`;
  const take = (host: string, holder: string, now: Date) =>
    takeSlot(ofHost(host), holder, new Date(now.getTime() + minute), now, signal());

  test("are two, whoever comes at the same time", async () => {
    const host = hostOf();
    const now = new Date();
    const slots = await twenty((index) => take(host, `holder-${index}`, now));
    const taken = slots.filter((slot) => slot !== undefined);
    expect(taken).toHaveLength(2);
    expect(new Set(taken.map(({ sink }) => sink)).size).toBe(2);
    expect(JSON.stringify(taken)).not.toContain(host.slice(0, 36));
    expect(await take(hostOf(), "other host", now)).toBeDefined();
  });

  test("are free again when they are given back, by their holder alone", async () => {
    const host = hostOf();
    const now = new Date();
    const [one, other] = [await take(host, "one", now), await take(host, "other", now)];
    if (one === undefined || other === undefined) throw new Error("no slot");
    await giveSlotBack({ ...one, holder: "other" }, signal());
    expect(await take(host, "third", now)).toBeUndefined();
    await giveSlotBack(one, signal());
    await giveSlotBack(one, signal());
    expect(await take(host, "third", now)).toEqual({ sink: one.sink, holder: "third" });
    expect(await take(host, "fourth", now)).toBeUndefined();
  });

  test("are free again when their time is over, and then not their old holder's", async () => {
    const host = hostOf();
    const now = new Date();
    const old = [await take(host, "one", now), await take(host, "other", now)];
    expect(await take(host, "early", new Date(now.getTime() + minute - 1))).toBeUndefined();
    const later = new Date(now.getTime() + minute);
    expect(await take(host, "third", later)).toBeDefined();
    expect(await take(host, "fourth", later)).toBeDefined();
    for (const slot of old) if (slot !== undefined) await giveSlotBack(slot, signal());
    expect(await take(host, "fifth", later)).toBeUndefined();
  });

  test("are taken once by one holder, though it asks twice", async () => {
    const host = hostOf();
    const now = new Date();
    expect(await take(host, "one", now)).toEqual(await take(host, "one", now));
    expect(await take(host, "other", now)).toBeDefined();
  });

  test("outlive their time by a day and not for ever", async () => {
    const host = hostOf();
    const now = new Date();
    const slot = await take(host, "one", now);
    const schema = z.object({ expiresAt: z.number() });
    const stored = await getItem("density-sinks", { sink: slot?.sink ?? "" }, schema, signal());
    expect((stored?.expiresAt ?? 0) * 1_000).toBeGreaterThan(now.getTime() + minute);
    expect((stored?.expiresAt ?? 0) * 1_000).toBeLessThan(now.getTime() + 2 * day);
  });
});

test("a caller has three places, whatever the hosts", async () => {
  const of = ofCaller(crypto.randomUUID());
  const now = new Date();
  const until = new Date(now.getTime() + minute);
  const slots = await twenty((index) => takeSlot(of, `holder-${index}`, until, now, signal()));
  expect(slots.filter((slot) => slot !== undefined)).toHaveLength(3);
});

test("of twenty messages of a job that come at once, one goes round; the next when its time has come", async () => {
  const { operationId } = await storeJob(someJob());
  const now = new Date();
  const gone = await twenty(() => goRound(operationId, 4, now, signal()));
  expect(gone.filter(isTrue)).toHaveLength(1);
  expect(await goRound(operationId, 4, new Date(now.getTime() + 3_999), signal())).toBe(false);
  expect(await goRound(operationId, 4, new Date(now.getTime() + 4_000), signal())).toBe(true);
});
