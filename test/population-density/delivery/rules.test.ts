import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deadlineOf, type PendingJob } from "../../../functions/population-density/delivery/job.ts";
import {
  agreementMilliseconds,
  recordMilliseconds,
  releaseMilliseconds,
} from "../../../functions/population-density/delivery/lease.ts";
import {
  attemptMilliseconds,
  isPossiblyDelivered,
  nextAttempt,
  nextStep,
  permitWaitSeconds,
  retryDelay,
  type Sent,
} from "../../../functions/population-density/delivery/rules.ts";
import { configuration } from "../../../shared/environment.ts";
import { queueDescription, visibilitySeconds, workerSeconds } from "../../../shared/sqs/queues.ts";
import { reserveMilliseconds, verdictMilliseconds } from "../../../shared/sqs/worker.ts";
import { someJob } from "../../support/jobs.ts";

const schedule = configuration.SINK_RETRY_SECONDS.read(configuration.SINK_RETRY_SECONDS.default) ?? [];
const now = Date.UTC(2026, 10, 20);
const hour = 3_600_000;

function aJob(changes: Partial<PendingJob> = {}): PendingJob {
  const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };
  const sink = "https://sink.example.com/";
  return { ...someJob(sink, request, { requestedAt: now, attempts: 1, ...changes }), sink };
}

const failed = (changes: Partial<Sent> = {}): Sent => ({
  outcome: "failed",
  status: 503,
  sentWhole: false,
  bytes: 1_000,
  ...changes,
});

const stepAfter = (job: PendingJob, sent: Sent, random = 0.5, hasAgreed = true) =>
  nextStep(job, sent, hasAgreed, { now, schedule, random });

describe("the wait before another attempt", () => {
  test("is never shorter than what the sink asks for, nor than the schedule by more than its jitter", () => {
    const anything = fc.record({
      attempts: fc.integer({ min: 1, max: schedule.length }),
      asked: fc.option(fc.integer({ min: 0, max: 3_600 }), { nil: undefined }),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(anything, ({ attempts, asked, random }) => {
        const seconds = retryDelay(attempts, asked, "answer", { schedule, random }) ?? 0;
        const scheduled = schedule[attempts - 1] ?? 0;
        expect(seconds).toBeGreaterThanOrEqual(asked ?? 0);
        expect(seconds).toBeGreaterThanOrEqual(scheduled * 0.8 - 1e-6);
        expect(seconds).toBeLessThanOrEqual(Math.max((asked ?? 0) * 1.2, scheduled * 1.2) + 1e-6);
      }),
    );
  });

  test("of a sink that asks for a second each time is as long in all as the schedule: a deploy loses nothing", () => {
    const waits = schedule.map(
      (_, index) => retryDelay(index + 1, 1, "answer", { schedule, random: 0 }) ?? 0,
    );
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(8 * 3_600);
  });

  test("ends before the job expires, whatever is asked; else the failure is sent now", () => {
    const late = aJob({ requestedAt: now - 20 * hour, attempts: 8 });
    expect(stepAfter(late, failed())).toMatchObject({ kind: "retry", mode: "failure", inSeconds: 0 });
    const step = stepAfter(
      aJob({ requestedAt: now - 22 * hour, attempts: 6 }),
      failed({ retryAfterSeconds: 3_600 }),
    );
    expect(step).toMatchObject({ kind: "retry", mode: "failure" });
    if (step.kind === "retry") expect(step.inSeconds).toBeGreaterThanOrEqual(3_600);
  });
});

describe("what a sink may hold", () => {
  test.each<[string, Partial<Sent>, boolean]>([
    ["503 before the end", { status: 503, sentWhole: false }, false],
    ["502 of a proxy after it", { status: 502, sentWhole: true }, true],
    ["408 after it", { status: 408, sentWhole: true }, false],
    ["413 after it", { status: 413, sentWhole: true }, false],
    ["429 after it", { status: 429, sentWhole: true }, false],
  ])("%s", (_, sent, is) => {
    expect(isPossiblyDelivered(failed(sent))).toBe(is);
    expect(stepAfter(aJob(), failed(sent))).toMatchObject({
      kind: "retry",
      mode: "answer",
      possiblyDelivered: is,
    });
    expect(stepAfter(aJob({ possiblyDelivered: true }), failed(sent))).toMatchObject({
      possiblyDelivered: true,
    });
  });

  test("decides whether it gets a failure", () => {
    const last = { attempts: schedule.length + 1 };
    expect(stepAfter(aJob(last), failed())).toMatchObject({ kind: "retry", mode: "failure" });
    for (const job of [aJob({ ...last, possiblyDelivered: true }), aJob(last)]) {
      const sent = failed({ sentWhole: true, status: 502 });
      expect(stepAfter(job, sent)).toMatchObject({ kind: "finish", outcome: "failed" });
    }
  });

  test("a connection that breaks after the end is not known", () => {
    const { status: _, ...sent } = failed({ sentWhole: true, cause: "ECONNRESET" });
    expect(stepAfter(aJob(), sent)).toMatchObject({ possiblyDelivered: true });
  });
});

describe("the next attempt", () => {
  const next = (job: PendingJob, dead = false) => nextAttempt(job, { now, schedule }, dead);

  test("sends the answer as often as the schedule has it, counted when it begins, and then the failure", () => {
    expect(next(aJob({ attempts: 0 }))).toEqual({ mode: "answer" });
    expect(next(aJob({ attempts: schedule.length }))).toEqual({ mode: "answer" });
    expect(next(aJob({ attempts: schedule.length + 1 }))).toEqual({ mode: "failure" });
    expect(next(aJob({ attempts: schedule.length + 1, possiblyDelivered: true }))).toMatchObject({
      outcome: "failed",
    });
  });

  test("never sends an answer once the failure is decided, and gives that up too in the end", () => {
    expect(next(aJob({ mode: "failure", attempts: schedule.length + 2 }))).toEqual({ mode: "failure" });
    expect(next(aJob({ mode: "failure", attempts: 99 }))).toMatchObject({
      kind: "finish",
      outcome: "failed",
    });
  });

  test.each([[[]], [[5]], [[2, 4, 6]], [schedule]])(
    "sends the failure three times at least, also when answers used the whole schedule: %j",
    (waits) => {
      const circumstances = { now, schedule: waits, random: 0.5 };
      let job = aJob({ attempts: 0 });
      const modes: string[] = [];
      for (;;) {
        const begun = nextAttempt(job, circumstances, false);
        if ("kind" in begun) break;
        modes.push(begun.mode);
        job = { ...job, mode: begun.mode, attempts: job.attempts + 1 };
        const step = nextStep(job, failed({ status: 429, sentWhole: true }), true, circumstances);
        if (step.kind === "finish") break;
        job = { ...job, mode: step.mode };
      }
      expect(modes).toEqual([...Array(waits.length + 1).fill("answer"), ...Array(3).fill("failure")]);
    },
  );

  test("sends the failure in the last hour, and nothing when it could end too late", () => {
    expect(next(aJob({ requestedAt: now - 23 * hour - 1 }))).toEqual({ mode: "failure" });
    const tooLate = aJob({ requestedAt: now - 24 * hour + attemptMilliseconds - 1 });
    expect(next(tooLate)).toMatchObject({ outcome: "failed", reason: "expired" });
    expect(deadlineOf(tooLate)).toBeGreaterThan(now);
  });

  test("of a dead letter is the failure", () => {
    expect(next(aJob(), true)).toEqual({ mode: "failure" });
    expect(next(aJob({ possiblyDelivered: true }), true)).toMatchObject({ outcome: "failed" });
  });

  test("is none when the token has ended, or will have by then", () => {
    expect(next(aJob({ accessTokenExpiresAt: now }))).toMatchObject({ reason: "token expired" });
    expect(next(aJob({ accessTokenExpiresAt: now + 1 }))).toEqual({ mode: "answer" });
    const job = aJob({ accessTokenExpiresAt: now + 500 });
    expect(stepAfter(job, failed())).toMatchObject({ kind: "finish", reason: "token expired" });
  });
});

test("a large body is sent three times to a host that never took anything, and as scheduled to one that did", () => {
  const large = failed({ bytes: 2_000_000 });
  expect(stepAfter(aJob({ attempts: 2 }), large, 0.5, false)).toMatchObject({ mode: "answer" });
  expect(stepAfter(aJob({ attempts: 3 }), large, 0.5, false)).toMatchObject({ mode: "failure" });
  expect(stepAfter(aJob({ attempts: 3 }), large, 0.5, true)).toMatchObject({ mode: "answer" });
  expect(stepAfter(aJob({ attempts: 3 }), failed(), 0.5, false)).toMatchObject({ mode: "answer" });
});

test("a job that waits a day for a permit is received far less often than makes a message dead", () => {
  let at = now;
  let receives = 0;
  while (at < now + 24 * hour - attemptMilliseconds) {
    at += permitWaitSeconds({ requestedAt: now }, now, at, 0) * 1_000;
    receives++;
  }
  expect(receives).toBeLessThan((queueDescription("density-jobs").deadLetters?.maxReceiveCount ?? 0) / 2);
});

test("a wait for a permit ends while there is time to begin an attempt", () => {
  for (const leftMinutes of [60, 20, 10, 7, 6]) {
    const at = now + 24 * hour - leftMinutes * 60_000;
    const wait = permitWaitSeconds({ requestedAt: now }, now, at, 1) * 1_000;
    expect(24 * hour - (at + wait - now)).toBeGreaterThanOrEqual(attemptMilliseconds);
  }
});

test("recording an attempt, giving its permit back and hiding its message fit into the reserve of a worker", () => {
  const inAll = agreementMilliseconds + recordMilliseconds + releaseMilliseconds + verdictMilliseconds;
  expect(inAll).toBeLessThan(reserveMilliseconds);
});

test("a lease ends after its worker, and before the message of a worker that is gone comes again", () => {
  expect(attemptMilliseconds).toBeGreaterThan(workerSeconds * 1_000 + 3_000);
  expect(attemptMilliseconds).toBeLessThan(visibilitySeconds * 1_000 - 3_000);
});
