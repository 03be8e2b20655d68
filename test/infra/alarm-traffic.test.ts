import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { alarmsOf, evaluate, type Series, type Values, type WatchedMetric } from "./alarm-evaluation.ts";
import { configured, deployed } from "./template.ts";

/** The loads of the table in `docs/alarms.md`, in requests a minute. */
const loads = { "1/h": 1 / 60, "1,000/d": 1_000 / 1_440, "200/s": 12_000, "1,000/s": 60_000 } as const;
type Load = keyof typeof loads;
const loadNames = Object.keys(loads) as Load[];

const day = 1_440;
/** When something begins to fail, after two days in which nothing did, and until when it is watched. */
const failsFrom = 2 * day;
const until = failsFrom + 1.25 * day;
/** How long a release gets a tenth of the requests. */
const canary = 10;
/** How often an alarm can change: no period is shorter. */
const step = 5;

/** How many of so many events a minute are in one minute, without a random part. */
const eventsIn = (minute: number, rate: number) =>
  Math.floor((minute + 1) * rate + 1e-6) - Math.floor(minute * rate + 1e-6);

/** Values of a metric in a minute, for so many requests in it. */
type Minute = (
  requests: number,
  minute: number,
  of: { readonly metric: WatchedMetric; readonly rate: number },
) => readonly Values[];

const each =
  (value: number): Minute =>
  (count) => [{ value, count }];
/** Measured every so many minutes, at any load. */
const always =
  (value: number, minutes = 1): Minute =>
  (_, minute) =>
    minute % minutes === 0 ? [{ value, count: 1 }] : [];
const none: Minute = () => [];

/** Metrics while nothing fails, with every request a login, a request for densities and an accepted delivery. */
const healthy: Readonly<Record<string, Minute>> = {
  "4XXError": each(0),
  "5XXError": each(0),
  Count: each(1),
  DaysToExpiry: always(200, day / 2),
  DensityMilliseconds: each(50),
  Errors: each(0),
  FailedDeliveries: each(0),
  FirstAttemptSeconds: each(1),
  Latency: each(100),
  ObservedDayAgeDays: always(1),
  OldestJobSeconds: always(0),
  OldestUnstartedJobSeconds: always(0),
  RequestMilliseconds: each(50),
  SigningKeyAgeDays: each(10),
};

const grows: Minute = (_, minute) => [{ value: Math.max(0, minute - failsFrom) * 60, count: 1 }];

/** Every invocation of a new version fails, which gets a tenth of its function's. */
const ofRelease: Minute = (_, minute, { metric: { dimensions }, rate }) => {
  const isScheduled = /Sweep/.test(Object.values(dimensions).join(" "));
  const ofVersion = eventsIn(minute, (isScheduled ? 1 : rate) / 10);
  return [{ value: 1, count: ofVersion }];
};

/** Minutes for which API Gateway keeps a policy, and tokens that are in use. */
const [policyMinutes, tokens] = [5, 100];

/**
 * A tenth of the invocations are of the new version, which refuses all of them. What it refuses is not kept: the token
 * comes again.
 */
const ofAuthorizerRelease: Minute = (_, minute, { metric: { dimensions }, rate }) => {
  const accepted = Math.min(rate * 0.9, tokens / policyMinutes);
  const refused = eventsIn(minute, accepted / 9);
  const isOfVersion = "ExecutedVersion" in dimensions;
  return [
    { value: 1, count: refused },
    { value: 0, count: isOfVersion ? 0 : eventsIn(minute, accepted) },
  ];
};

/** Everything fails that alarms of a name are about: the metrics that then are others. */
const failures: Readonly<Record<string, Readonly<Record<string, Minute>>>> = {
  RequestsFailing: { "5XXError": each(1) },
  MostRequestsFailing: { "5XXError": each(1) },
  RequestsRefused: { "4XXError": each(1) },
  RequestsThrottled: { RequestsThrottled: each(1) },
  RequestsSlow: { Latency: each(5_000) },
  FunctionsThrottled: { Throttles: each(1) },
  ReadsThrottled: { ReadThrottleEvents: each(1) },
  WritesThrottled: { WriteThrottleEvents: each(1) },
  RequestsUncounted: { QuotaNotCounted: each(1) },
  LoginsFailing: { LoginFailures: each(1) },
  // One attempt to fetch the keys in ten seconds at most.
  IssuerKeysUnreachable: { IssuerKeysUnreachable: (count) => [{ value: 1, count: Math.min(count, 6) }] },
  SigningKeyNotRenewed: { Errors: always(1, day) },
  SigningKeyOld: { SigningKeyAgeDays: each(400) },
  Recursive: { RecursiveInvocationsDropped: each(1) },
  JobsWaiting: { OldestUnstartedJobSeconds: grows },
  JobsLate: { OldestJobSeconds: grows },
  SweepStopped: { OldestJobSeconds: none, OldestUnstartedJobSeconds: none, ObservedDayAgeDays: none },
  JobsNotComputed: { JobsNotComputed: each(1) },
  JobsExpired: { JobsExpired: each(1) },
  JobsParked: { ApproximateNumberOfMessagesVisible: always(1) },
  DeliveriesFailing: { FailedDeliveries: each(1) },
  ObservedDayOld: { ObservedDayAgeDays: always(10) },
  CertificateEnding: { DaysToExpiry: always(20, day / 2) },
  TrafficStopped: { Count: none },
  BurnsFast: {
    "5XXError": each(1),
    RequestMilliseconds: each(1_000),
    DensityMilliseconds: each(5_000),
    FirstAttemptSeconds: each(600),
  },
  SweepFaults: {
    Errors: (_, minute, of) =>
      minute < failsFrom + canary ? ofRelease(0, minute, of) : always(1)(0, minute, of),
  },
  AuthorizerAuthorizeEnding: { Errors: ofAuthorizerRelease },
  Faults: { Errors: ofRelease },
  Ending: {
    Errors: (...of) =>
      "ExecutedVersion" in of[2].metric.dimensions
        ? ofRelease(...of)
        : [...ofRelease(...of), { value: 0, count: of[0] }],
  },
  Crashing: { Errors: (...of) => ofRelease(...of).map((one) => ({ ...one, value: 0 })), Crashes: ofRelease },
};
const failuresOf = (rowName: string) => {
  const name = rowName.replace("…", "");
  return failures[name === "BurnsSlowly" ? "BurnsFast" : name];
};

/** Alarms that a release must raise while it can still be rolled back. */
const ofReleases = new Set(["AuthorizerAuthorizeEnding", "…Faults", "…Ending", "…Crashing"]);

/** The series of a stage: before the failure a new version has no invocations. */
function seriesAt(load: Load, failing: Readonly<Record<string, Minute>> = {}): Series {
  const rate = loads[load];
  return (metric, minute) => {
    const isFailing = minute >= failsFrom;
    const ofVersion = "ExecutedVersion" in metric.dimensions || "release" in metric.dimensions;
    if (ofVersion && !isFailing) return [];
    const values = (isFailing ? failing[metric.name] : undefined) ?? healthy[metric.name] ?? none;
    return values(eventsIn(minute, rate), minute, { metric, rate });
  };
}

const alarms = new Map([...alarmsOf(configured), ...alarmsOf(deployed)]);
const idOf = (logicalId: string) => logicalId.replace(/[0-9A-F]{8}$/, "");
const parts = /(?:Long|Short|Now|Before)$/;
const ids = [...alarms.keys()].filter((logicalId) => !parts.test(idOf(logicalId)));

function isRaised(logicalId: string, series: Series, from: number, to: number): boolean {
  const alarm = alarms.get(logicalId);
  for (let minute = from; minute <= to; minute += step) if (alarm?.(series, minute)) return true;
  return false;
}

/** The rows of the table: the ends of the alarms' names, and the least load at which they are raised. */
const rows = [
  ...readFileSync("docs/alarms.md", "utf8").matchAll(/^\| (`[^|]*) \| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm),
].map(([, names = "", from = ""]) => ({
  names: [...names.matchAll(/`(…?[A-Z]\w+)`/g)].map(([, name = ""]) => name),
  from,
}));
const named = rows.flatMap(({ names }) => names);

/** What the row of an alarm calls it: the longest name that is its own, or after `…` the end of its own. */
const rowNameOf = (logicalId: string) =>
  named
    .filter((name) =>
      name.startsWith("…") ? idOf(logicalId).endsWith(name.slice(1)) : idOf(logicalId) === name,
    )
    .sort((one, other) => other.length - one.length)[0];

test("every alarm has a row in docs/alarms.md, and every row an alarm", () => {
  expect(ids.filter((id) => rowNameOf(id) === undefined)).toEqual([]);
  const used = new Set(ids.map(rowNameOf));
  expect(named.filter((name) => !used.has(name))).toEqual([]);
});

test.each(loadNames)("at %s no alarm is raised while nothing fails", (load) => {
  expect(ids.filter((id) => isRaised(id, seriesAt(load), day, failsFrom))).toEqual([]);
});

describe.each(rows.flatMap(({ names, from }) => names.map((name) => ({ name, from }))))(
  "$name",
  ({ name, from }) => {
    const failing = failuresOf(name);
    const of = ids.filter((id) => rowNameOf(id) === name);
    const raisedAt = (load: Load) => {
      const end = ofReleases.has(name) ? failsFrom + canary : until;
      return of.filter((id) => isRaised(id, seriesAt(load, failing), failsFrom, end));
    };

    test(`${name} is raised from ${from} on, when all that it is about fails, and not below`, () => {
      expect(failing).toBeDefined();
      const least = loadNames.indexOf(from as Load);
      expect(least).toBeGreaterThanOrEqual(0);
      for (const load of loadNames.slice(least))
        expect({ load, raised: raisedAt(load) }).toEqual({ load, raised: of });
      for (const load of loadNames.slice(0, least))
        expect({ load, raised: raisedAt(load) }).not.toEqual({ load, raised: of });
    });
  },
);

test.each([
  ["IF(n >= 20, 100 * share, 0)", 50],
  ["IF(n >= 21, 100 * share, 0)", 0],
  ["IF(n >= 20, 100 * (share + FILL(absent, 0) / n), 0)", 50],
  ["IF(n >= 20, absent / n, 0)", undefined],
  ["100 - 2 * n / 4 - 1", 89],
])("the metric math %s gives %s", (expression, value) => {
  const variables = new Map([
    ["n", 20],
    ["share", 0.5],
    ["absent", undefined],
  ]);
  expect(evaluate(expression, variables)).toBe(value);
});
