import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptanceMilliseconds,
  recordMilliseconds,
} from "../../../functions/population-density/delivery/attempt.ts";
import {
  deadlineOf,
  failureInfo,
  failureReasonOf,
  failureReasons,
  type Job,
  type PendingJob,
} from "../../../functions/population-density/delivery/job.ts";
import { messageState } from "../../../functions/population-density/delivery/message-state.ts";
import {
  type AttemptResult,
  attemptMilliseconds,
  isPossiblyDelivered,
  nextAttempt,
  nextStep,
  retryDelay,
  type SendResult,
} from "../../../functions/population-density/delivery/rules.ts";
import { permitWaitSeconds, secondsUntilDue } from "../../../functions/population-density/delivery/waits.ts";
import { freeMilliseconds } from "../../../functions/population-density/delivery/work-on-job.ts";
import { setting } from "../../../shared/environment.ts";
import { queueDescription, visibilitySeconds, workerSeconds } from "../../../shared/sqs/queues.ts";
import { recoverySeconds, reserveMilliseconds, verdictMilliseconds } from "../../../shared/sqs/worker.ts";
import { SINK_RETRY_SECONDS } from "../../../shared/variables/sink-retry-seconds.ts";
import { defaultSettings } from "../../support/settings.ts";
import { someJob } from "../../support/some-job.ts";

const schedule = setting(SINK_RETRY_SECONDS, defaultSettings);
const now = Date.UTC(2026, 10, 20);
const hour = 3_600_000;

function aJob(changes: Partial<PendingJob> = {}): PendingJob {
  const request = { area: { areaType: "POLYGON", boundary: [] }, startTime: "", endTime: "", precision: 7 };
  const sink = "https://sink.example.com/";
  return { ...someJob(sink, request, { requestedAt: now, attempts: 1, ...changes }), sink };
}

const failed = (changes: Partial<SendResult> = {}): SendResult => ({
  outcome: "failed",
  status: 503,
  sentWhole: false,
  bytes: 1_000,
  ...changes,
});

const stepAfter = (job: PendingJob, sent: SendResult, random = 0.5, hasAccepted = true) =>
  nextStep(job, sent, hasAccepted, { now, schedule, random });

describe("the wait before another attempt", () => {
  test("the next attempt follows after Retry-After and the schedule, with 20 % of jitter at most", () => {
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

  test("the schedule's wait is shortened or lengthened by 20 % where chance is at its ends", () => {
    const waits = [0, 0.5, 1].map((random) => retryDelay(1, undefined, "answer", { schedule: [10], random }));
    expect(waits).toEqual([8, 10, 12].map((seconds) => expect.closeTo(seconds)));
  });

  test("a sink that always asks for 1 s is called for more than 8 h", () => {
    const waits = schedule.map(
      (_, index) => retryDelay(index + 1, 1, "answer", { schedule, random: 0 }) ?? 0,
    );
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(8 * 3_600);
  });

  test("the failure is sent at once when the schedule has no time left for the answer", () => {
    const late = aJob({ requestedAt: now - 20 * hour, attempts: 8 });
    expect(stepAfter(late, failed())).toMatchObject({ kind: "retry", mode: "failure", inSeconds: 0 });
  });

  test("the failure is sent after Retry-After, 3,600 s, when only the answer has no time left", () => {
    const late = aJob({ requestedAt: now - 22 * hour, attempts: 6 });
    const step = stepAfter(late, failed({ retryAfterSeconds: 3_600 }));
    expect(step).toMatchObject({ kind: "retry", mode: "failure" });
    if (step.kind === "retry") expect(step.inSeconds).toBeGreaterThanOrEqual(3_600);
  });

  test("the failure is sent at once when Retry-After, 3 h, would outlast the job", () => {
    const late = aJob({ requestedAt: now - 22 * hour, attempts: 6 });
    const step = stepAfter(late, failed({ retryAfterSeconds: 3 * 3_600 }));
    expect(step).toMatchObject({ kind: "retry", mode: "failure", inSeconds: 0 });
  });
});

describe("what a sink may hold", () => {
  test.each<[string, Partial<SendResult>, boolean]>([
    ["503 before the end", { status: 503, sentWhole: false }, false],
    ["502 of a proxy after it", { status: 502, sentWhole: true }, true],
    ["408 after it", { status: 408, sentWhole: true }, false],
    ["413 after it", { status: 413, sentWhole: true }, false],
    ["429 after it", { status: 429, sentWhole: true }, false],
  ])("after %s (%j) an answer is possibly delivered: %s", (_, sent, is) => {
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

  test("a failure is sent only when the sink cannot hold the answer", () => {
    const last = { attempts: schedule.length + 1 };
    expect(stepAfter(aJob(last), failed())).toMatchObject({ kind: "retry", mode: "failure" });
    for (const job of [aJob({ ...last, possiblyDelivered: true }), aJob(last)]) {
      const sent = failed({ sentWhole: true, status: 502 });
      expect(stepAfter(job, sent)).toMatchObject({ kind: "finish", outcome: "failed" });
    }
  });

  test("an answer is possibly delivered when the connection breaks after the whole body", () => {
    const { status: _, ...sent } = failed({ sentWhole: true, cause: "ECONNRESET" });
    expect(stepAfter(aJob(), sent)).toMatchObject({ possiblyDelivered: true });
  });
});

describe("the next attempt", () => {
  const next = (job: PendingJob) => nextAttempt(job, { now, schedule });

  test("the answer is sent 1 + 8 times as scheduled, then the failure", () => {
    expect(next(aJob({ attempts: 0 }))).toEqual({ mode: "answer" });
    expect(next(aJob({ attempts: schedule.length }))).toEqual({ mode: "answer" });
    expect(next(aJob({ attempts: schedule.length + 1 }))).toEqual({
      mode: "failure",
      failureCause: "attempts exhausted",
    });
    expect(next(aJob({ attempts: schedule.length + 1, possiblyDelivered: true }))).toMatchObject({
      outcome: "failed",
    });
  });

  test("no answer is sent after a failure, and the job ends after its last attempt", () => {
    expect(next(aJob({ mode: "failure", attempts: schedule.length + 2 }))).toEqual({ mode: "failure" });
    expect(next(aJob({ mode: "failure", attempts: 99 }))).toMatchObject({
      kind: "finish",
      outcome: "failed",
    });
  });

  test.each([[[]], [[5]], [[2, 4, 6]], [schedule]])(
    "the failure is sent three times after the answers of schedule %j",
    (waits) => {
      const circumstances = { now, schedule: waits, random: 0.5 };
      let job = aJob({ attempts: 0 });
      const modes: string[] = [];
      for (;;) {
        const begun = nextAttempt(job, circumstances);
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

  test("the failure is sent in the last hour, and the job ends when an attempt could outlast it", () => {
    const late = { requestedAt: now - 23 * hour - 1 };
    expect(next(aJob(late))).toEqual({ mode: "failure", failureCause: "time over" });
    expect(next(aJob({ ...late, possiblyDelivered: true }))).toMatchObject({ reason: "possibly delivered" });
    const tooLate = aJob({ requestedAt: now - 24 * hour + attemptMilliseconds - 1 });
    expect(next(tooLate)).toMatchObject({ outcome: "failed", reason: "expired" });
    expect(deadlineOf(tooLate)).toBeGreaterThan(now);
    const inTime = aJob({ requestedAt: now - 24 * hour + attemptMilliseconds });
    expect(next(inTime)).toEqual({ mode: "failure", failureCause: "time over" });
  });

  test("a job ends when its token has expired, or will have by the next attempt", () => {
    expect(next(aJob({ accessTokenExpiresAt: now }))).toMatchObject({ reason: "token expired" });
    expect(next(aJob({ accessTokenExpiresAt: now + 1 }))).toEqual({ mode: "answer" });
    const job = aJob({ accessTokenExpiresAt: now + 500 });
    expect(stepAfter(job, failed())).toMatchObject({ kind: "finish", reason: "token expired" });
  });
});

describe("what a caller is told of a job that failed", () => {
  const notComputed = (isTransient: boolean): AttemptResult => ({
    outcome: "not computed",
    cause: "TypeError at tile u05",
    isTransient,
  });
  /** Makes attempts with one result after the other, and with the last one again, until the job ends. */
  function endOf(job: PendingJob, results: readonly AttemptResult[]) {
    let [current, at] = [job, now];
    for (let index = 0; ; index++) {
      const begun = nextAttempt(current, { now: at, schedule });
      if ("kind" in begun) return { ...current, state: begun.outcome, reason: begun.reason };
      current = { ...current, ...begun, attempts: current.attempts + 1 };
      const result = results[Math.min(index, results.length - 1)] ?? failed();
      const step = nextStep(current, result, false, { now: at, schedule, random: 0.5 });
      if (step.kind === "finish") return { ...current, state: step.outcome, reason: step.reason };
      const { inSeconds, kind: _, ...sending } = step;
      current = { ...current, ...sending };
      at += inSeconds * 1_000;
    }
  }
  const refused: AttemptResult = { outcome: "refused", cause: "ENOTFOUND", sentWhole: false, bytes: 0 };
  const taken: AttemptResult = { outcome: "delivered", status: 200, sentWhole: true, bytes: 9 };

  test.each<[string, Partial<PendingJob>, readonly AttemptResult[], string]>([
    [
      "its answer cannot be computed, and the sink takes the failure",
      {},
      [notComputed(false), taken],
      "not computed",
    ],
    ["its answer can never be computed in time", {}, [notComputed(true)], "not computed"],
    ["its sink answers 503 to everything", {}, [failed()], "attempts exhausted"],
    ["its sink refuses the failure too", {}, [...Array(9).fill(failed()), refused], "attempts exhausted"],
    ["its sink always asks for an hour", {}, [failed({ retryAfterSeconds: 9_000 })], "time over"],
    ["it is found after 23 h", { requestedAt: now - 23 * hour - 1 }, [taken], "time over"],
    ["it is found after a day", { requestedAt: now - 24 * hour }, [taken], "time over"],
    ["its token has expired", { accessTokenExpiresAt: now }, [taken], "token expired"],
    [
      "its token expires before the next attempt",
      { accessTokenExpiresAt: now + 500 },
      [failed()],
      "token expired",
    ],
    ["its sink never answers to the whole body", {}, [failed({ sentWhole: true })], "possibly delivered"],
  ])("%s → %j", (_, changes, results, reason) => {
    const ended = endOf(aJob({ attempts: 0, ...changes }), results);
    expect(ended.state).toBe("failed");
    expect(failureReasonOf(ended)).toBe(reason);
  });

  test("any failure has one of five reasons, and any other outcome none", () => {
    const cause = fc.constantFrom("ECONNREFUSED 10.0.0.7:443", "ENOTFOUND db.internal", "aborted");
    const result: fc.Arbitrary<AttemptResult> = fc.oneof(
      fc.record({ outcome: fc.constant("not computed" as const), cause, isTransient: fc.boolean() }),
      fc.record(
        {
          outcome: fc.constantFrom("delivered" as const, "refused" as const, "failed" as const),
          status: fc.constantFrom(200, 302, 404, 408, 413, 429, 500),
          cause,
          retryAfterSeconds: fc.integer({ min: 0, max: 3_600 }),
          sentWhole: fc.boolean(),
          bytes: fc.constantFrom(9, 2_000_000),
        },
        { requiredKeys: ["outcome", "sentWhole", "bytes"] },
      ),
    );
    const job = fc.record(
      {
        requestedAt: fc.integer({ min: now - 25 * hour, max: now }),
        accessTokenExpiresAt: fc.integer({ min: now - hour, max: now + 25 * hour }),
        possiblyDelivered: fc.boolean(),
        attempts: fc.integer({ min: 0, max: 12 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(job, fc.array(result, { minLength: 1, maxLength: 15 }), (changes, results) => {
        const ended = endOf(aJob(changes), results);
        if (ended.state === "failed") expect(failureReasons).toContain(failureReasonOf(ended));
        else expect(failureReasonOf(ended)).toBeUndefined();
      }),
    );
  });

  test("a reason that is none of the five is not passed on", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom("refused: ENOTFOUND", "failure sent", "connect 10.0.0.7"),
    );
    fc.assert(
      fc.property(texts, (reason) => {
        const told: unknown = failureReasonOf({ state: "failed", reason });
        expect([undefined, ...failureReasons]).toContain(told);
      }),
    );
  });

  test.each<[string, Job["failureCause"]]>([
    ["could not be computed", "not computed"],
    ["All attempts", "attempts exhausted"],
    ["within a day", "time over"],
    ["could not be computed", undefined],
  ])("the failure at a sink says %j after %j", (part, failureCause) => {
    expect(failureInfo({ failureCause })).toContain(part);
  });
});

test("2 MB are sent three times at most to a host that has never answered 2xx", () => {
  const large = failed({ bytes: 2_000_000 });
  expect(stepAfter(aJob({ attempts: 2 }), large, 0.5, false)).toMatchObject({ mode: "answer" });
  expect(stepAfter(aJob({ attempts: 3 }), large, 0.5, false)).toMatchObject({ mode: "failure" });
  expect(stepAfter(aJob({ attempts: 3 }), large, 0.5, true)).toMatchObject({ mode: "answer" });
  expect(stepAfter(aJob({ attempts: 3 }), failed(), 0.5, false)).toMatchObject({ mode: "answer" });
});

describe("a job that waits for a permit", () => {
  /** A permit of a job that was due so many seconds ago. */
  const permit = (lateSeconds: number) => ({
    holder: "h",
    host: "host",
    caller: "caller",
    mode: "answer" as const,
    since: now - lateSeconds * 1_000,
    until: now + 1,
  });
  const wait = (waitedSeconds: number, lateSeconds: number, random = 1) =>
    permitWaitSeconds(now - waitedSeconds * 1_000, [permit(0), permit(lateSeconds)], now, random);

  test("a job without a permit asks again after 5 to 20 s, however long it has waited", () => {
    for (const waited of [-5, 0, 1, 60, 3_600, 86_400]) {
      for (const late of [-5, 0, 1, 60, 3_600, 86_400]) {
        for (const random of [0, 0.5, 1]) {
          expect(wait(waited, late, random)).toBeGreaterThanOrEqual(5);
          expect(wait(waited, late, random)).toBeLessThanOrEqual(20);
        }
      }
    }
  });

  test("a job that was due as early as any that is being sent waits half as long for a permit", () => {
    for (const late of [60, 600, 6_000]) expect(wait(late, late)).toBe(wait(0, late) / 2);
  });
});

describe("the message of a job", () => {
  const sentAt = now - hour;

  const max = queueDescription("density-jobs").deadLetters?.maxReceiveCount ?? 0;
  /** The least age of a message that has been received half as often as SQS allows. */
  const exhaustedAge = (max / 2) * permitWaitSeconds(0, [], now, 0) * 1_000;

  test.each([
    ["the message that was confirmed last", sentAt + 10_000, 500, "good"],
    ["a message that was confirmed before it was sent", sentAt - 3_000, 1, "good"],
    ["a message whose sender's clock is a minute ahead", sentAt + 61_000, 1, "good"],
    ["a message with more than half of SQS's receives", sentAt, max / 2 + 1, "exhausted"],
    ["such a message while another one is requested", undefined, max / 2 + 1, "good"],
    ["a message when another one was sent ten minutes later", sentAt + 600_001, 1, "replaced"],
    ["a message when another one was sent once it was exhausted", sentAt + exhaustedAge, max / 2, "replaced"],
  ])("%s, queued at %s and received %i times, is %s", (_, queuedAt, receives, state) => {
    expect(messageState({ queuedAt }, { sentAt, receives })).toBe(state);
  });

  test("a message survives a day without a table within the receives that SQS allows", () => {
    let receives = max / 2;
    for (let seconds = 0; seconds < 86_400; seconds += recoverySeconds(receives)) receives++;
    expect(receives).toBeLessThan(max);
  });
});

test("the message of a job that is due in 600 s is hidden for 601 s, and for 20 s while an attempt runs", () => {
  const at = now + 600_000;
  expect(secondsUntilDue({ lastAttempt: undefined }, at, now)).toBe(601);
  expect(secondsUntilDue({ lastAttempt: { number: 1, at: now, outcome: "failed" } }, at, now)).toBe(601);
  expect(secondsUntilDue({ lastAttempt: { number: 1, at: now } }, at, now)).toBe(20);
  expect(secondsUntilDue({ lastAttempt: { number: 1, at: now } }, now + 4_000, now)).toBe(5);
});

test("recording an attempt, releasing its permit and hiding its message fit into a worker's reserve", () => {
  const inAll = acceptanceMilliseconds + recordMilliseconds + freeMilliseconds + verdictMilliseconds;
  expect(inAll).toBeLessThan(reserveMilliseconds);
});

test("a lease ends after its worker, and before the message of a worker that is gone comes again", () => {
  expect(attemptMilliseconds).toBeGreaterThan(workerSeconds * 1_000 + 3_000);
  expect(attemptMilliseconds).toBeLessThan(visibilitySeconds * 1_000 - 3_000);
});
