/** A price that falls: from which amount of a month on, it is how much. */
type Tiers = readonly (readonly [from: number, price: number])[];

/** List prices in USD of `us-east-1`, which docs/limits-and-cost.md links: look them up for another region. */
const prices = {
  /** A million requests. */
  apiRequests: [
    [0, 3.5],
    [333, 2.8],
    [1_000, 2.38],
    [20_000, 1.51],
  ],
  /** A million invocations, and a GB-second on arm64. */
  invocations: 0.2,
  gigabyteSeconds: 0.000_013_3,
  /** A GB that a function streams beyond the first 6 MB of an answer. */
  streamedGigabyte: 0.008,
  /** A million units, in a table of the standard class and in one of infrequent access. */
  writes: { standard: 0.625, infrequent: 0.78 },
  reads: { standard: 0.125, infrequent: 0.155 },
  /** A GB a month. */
  storage: { standard: 0.25, infrequent: 0.1 },
  recovery: 0.2,
  /** A GB that is written to the log of a function, and to another log. */
  functionLogs: [
    [0, 0.5],
    [10_240, 0.25],
    [30_720, 0.1],
    [51_200, 0.05],
  ],
  otherLogs: 0.5,
  /** A GB a month in a log, as it is compressed. */
  keptLogs: 0.03,
  /** A GB sent. */
  sent: [
    [0, 0.09],
    [10_240, 0.085],
    [51_200, 0.07],
    [153_600, 0.05],
  ],
  /** A million traces. */
  traces: 5,
  metric: 0.3,
  alarmMetric: 0.1,
  compositeAlarm: 0.5,
} as const satisfies Readonly<Record<string, number | Tiers | Readonly<Record<string, number>>>>;

/** What is assumed of the requests of a month. docs/limits-and-cost.md says where each comes from. */
export const assumptions = {
  secondsOfMonth: 30 * 86_400,
  /** USD of dashboard, key, secret, and polling of the empty queue. */
  standing: 4.65,
  /** The alarms of `prod`, by the setting `alarms`. */
  alarms: { all: { metrics: 162, composites: 9 }, essential: { metrics: 101, composites: 1 } },
  /** Metrics with values in every hour, while nothing fails. */
  metrics: 31,
  /** Environments that start, of a thousand requests, and seconds that one takes, which are paid for as others are. */
  startsOfThousand: 2,
  startSeconds: 0.5,
  /** With `tracing=true`: the share of requests that is traced, in addition to one a second. */
  tracedShare: 0.05,
  /** Bytes of the function's line and of the access log's, and which share of them CloudWatch keeps. */
  functionLogBytes: 840,
  accessLogBytes: 510,
  keptShare: 0.15,
  logMonths: 3,
  /** A device, number or QoS request; its write counts the request, that of its record is apart. */
  others: {
    invocations: 1,
    seconds: 0.025,
    gigabytes: 0.5,
    writes: 1,
    reads: 2,
    sentBytes: 1_000,
    recorded: 1,
  },
  /** Densities at once, within a tile and hour. */
  densities: {
    invocations: 1,
    seconds: 0.06,
    gigabytes: 1,
    writes: 1,
    reads: 2,
    sentBytes: 20_000,
    recorded: 0,
  },
  /** A token for a subscriber, and the authorizer's verification of it at its one use. */
  tokens: {
    invocations: 2,
    seconds: 0.04,
    gigabytes: 0.5,
    writes: 2,
    reads: 3,
    sentBytes: 1_500,
    recorded: 1,
  },
  /** Bytes of a record of who read what, those that DynamoDB adds to each item, and the days for which it is kept. */
  recordBytes: 180,
  addedBytes: 100,
  recordDays: 365,
  recordClass: "infrequent" as "infrequent" | "standard",
};

/** What may be assumed otherwise. */
export type Assumptions = typeof assumptions;

/** The settings of a stage on which its cost depends, as `-c` takes them. */
interface CostSettings {
  readonly alarms?: keyof Assumptions["alarms"];
  readonly tracing?: boolean;
}

/** Requests of a month. */
export interface MonthlyRequests {
  readonly densities: number;
  readonly others: number;
  /** For subscribers, as the 3-legged flow needs one for each call. */
  readonly tokens?: number;
}

/** Which part of the stage costs how much a month, in USD. */
export type MonthlyCost = Readonly<Record<string, number>>;

const million = 1_000_000;
const gigabyte = 1_000_000_000;

/** The cost of so much of something whose price falls. */
function tiered(amount: number, tiers: Tiers): number {
  return tiers.reduce((sum, [from, price], index) => {
    const [to] = tiers[index + 1] ?? [Number.POSITIVE_INFINITY];
    return sum + Math.max(0, Math.min(amount, to) - from) * price;
  }, 0);
}

/**
 * What `prod` costs a month, by part, at list prices without free tiers, and with default settings unless given. The records of who read what are those of a
 * stage that has kept them for as long as it does.
 */
export function costOf(
  { densities, others, tokens = 0 }: MonthlyRequests,
  given: Assumptions = assumptions,
  { alarms = "all", tracing = false }: CostSettings = {},
): MonthlyCost {
  const kinds = [
    [densities, given.densities],
    [others, given.others],
    [tokens, given.tokens],
  ] as const;
  const sum = (of: (kind: typeof given.others) => number) =>
    kinds.reduce((all, [count, kind]) => all + count * of(kind), 0);
  const requests = densities + others + tokens;
  const { metrics, composites } = given.alarms[alarms];
  const fixed = given.standing + metrics * prices.alarmMetric + composites * prices.compositeAlarm;
  if (requests === 0) return { "what stands": fixed };
  const records = sum(({ recorded }) => recorded);
  const storedBytes = given.recordBytes + given.addedBytes;
  const storedRecords = (records * storedBytes * (given.recordDays / 30)) / gigabyte;
  const startSeconds = (given.startsOfThousand / 1_000) * given.startSeconds;
  const streamed = (densities * Math.max(0, given.densities.sentBytes - 6_000_000)) / gigabyte;
  const functionLogs = (requests * given.functionLogBytes) / gigabyte;
  const accessLogs = (requests * given.accessLogBytes) / gigabyte;
  const keptLogs = (functionLogs + accessLogs) * given.keptShare * given.logMonths;
  const everySecond = Math.min(requests, given.secondsOfMonth);
  const traced = everySecond + given.tracedShare * (requests - everySecond);
  return {
    "what stands": fixed,
    "API Gateway": tiered(requests / million, prices.apiRequests),
    functions:
      (sum(({ invocations }) => invocations) / million) * prices.invocations +
      sum(({ seconds, gigabytes }) => (seconds + startSeconds) * gigabytes) * prices.gigabyteSeconds +
      streamed * prices.streamedGigabyte,
    tables:
      (sum(({ writes }) => writes) / million) * prices.writes.standard +
      (sum(({ reads }) => reads) / million) * prices.reads.standard,
    "records of who read what":
      (records / million) * prices.writes[given.recordClass] +
      storedRecords * (prices.storage[given.recordClass] + prices.recovery),
    logs:
      tiered(functionLogs, prices.functionLogs) + accessLogs * prices.otherLogs + keptLogs * prices.keptLogs,
    metrics: given.metrics * prices.metric,
    ...(tracing ? { traces: (traced / million) * prices.traces } : {}),
    "data sent": tiered(sum(({ sentBytes }) => sentBytes) / gigabyte, prices.sent),
  };
}

/** All parts together. */
export function totalOf(cost: MonthlyCost): number {
  return Object.values(cost).reduce((sum, part) => sum + part, 0);
}
