/** List prices in USD of `us-east-1`, which docs/limits-and-cost.md links: look them up for another region. */
const prices = {
  /** A million requests, and a million from the 333 millionth of a month on. */
  apiRequests: [3.5, 2.8],
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
  /** A GB that is written to a log, and a GB a month in it. */
  logs: 0.5,
  keptLogs: 0.03,
  /** A GB sent, from the first, the 10,241st and the 51,201st of a month on. */
  sent: [0.09, 0.085, 0.07],
  /** A million traces. */
  traces: 5,
  metric: 0.3,
} as const;

/** What is assumed of the requests of a month. docs/limits-and-cost.md says where each comes from. */
export const assumptions = {
  secondsOfMonth: 30 * 86_400,
  /** Alarms, dashboard, key, secret, and polling of the empty queue, of `prod` without requests. */
  fixed: 24.55,
  /** Metrics with values in every hour, while nothing fails. */
  metrics: 29,
  /** Environments that start, of a thousand requests, and seconds that one takes, which are paid for as others. */
  startsOfThousand: 2,
  startSeconds: 0.5,
  /** Share of requests that is traced, in addition to one a second. */
  tracedShare: 0.05,
  /** Bytes of the access log and of the function's line. */
  logBytes: 1_350,
  logMonths: 3,
  /** A device, number or QoS request; the write of its record is apart. */
  others: { seconds: 0.025, gigabytes: 0.5, writes: 2, reads: 2, sentBytes: 1_000, recorded: 1 },
  /** Densities at once, within a tile and hour. */
  densities: { seconds: 0.06, gigabytes: 1, writes: 1, reads: 2, sentBytes: 20_000, recorded: 0 },
  /** Bytes of a record of who read what, and the days for which it is kept. */
  recordBytes: 180,
  recordDays: 365,
  recordClass: "infrequent" as "infrequent" | "standard",
};

/** What may be assumed otherwise. */
export type Assumptions = typeof assumptions;

/** Requests of a month. */
export interface MonthlyRequests {
  readonly densities: number;
  readonly others: number;
}

/** Which part of the stage costs how much a month, in USD. */
export type MonthlyCost = Readonly<Record<string, number>>;

const million = 1_000_000;
const gigabyte = 1_000_000_000;

/** The cost of so much of something whose price falls: each price holds up to its limit, the last one beyond. */
function tiered(amount: number, price: readonly number[], limits: readonly number[]): number {
  return price.reduce((sum, one, index) => {
    const [from, to] = [limits[index - 1] ?? 0, limits[index] ?? Number.POSITIVE_INFINITY];
    return sum + Math.max(0, Math.min(amount, to) - from) * one;
  }, 0);
}

/**
 * What `prod` costs a month, by part, at list prices without free tiers. The records of who read what are those of a
 * stage that has kept them for as long as it does.
 */
export function costOf(
  { densities, others }: MonthlyRequests,
  given: Assumptions = assumptions,
): MonthlyCost {
  const kinds = [
    [densities, given.densities],
    [others, given.others],
  ] as const;
  const sum = (of: (kind: typeof given.densities | typeof given.others) => number) =>
    kinds.reduce((all, [count, kind]) => all + count * of(kind), 0);
  const requests = densities + others;
  if (requests === 0) return { "what stands": given.fixed };
  const records = sum(({ recorded }) => recorded);
  const storedRecords = (records * given.recordBytes * (given.recordDays / 30)) / gigabyte;
  const started = (requests / 1_000) * given.startsOfThousand * given.startSeconds;
  const streamed = (densities * Math.max(0, given.densities.sentBytes - 6_000_000)) / gigabyte;
  const logged = (requests * given.logBytes) / gigabyte;
  const everySecond = Math.min(requests, given.secondsOfMonth);
  const traced = everySecond + given.tracedShare * (requests - everySecond);
  return {
    "what stands": given.fixed,
    "API Gateway": tiered(requests / million, prices.apiRequests, [333]),
    functions:
      (requests / million) * prices.invocations +
      (sum(({ seconds, gigabytes }) => seconds * gigabytes) + started) * prices.gigabyteSeconds +
      streamed * prices.streamedGigabyte,
    tables:
      (sum(({ writes }) => writes) / million) * prices.writes.standard +
      (sum(({ reads }) => reads) / million) * prices.reads.standard,
    "records of who read what":
      (records / million) * prices.writes[given.recordClass] +
      storedRecords * (prices.storage[given.recordClass] + prices.recovery),
    logs: logged * (prices.logs + prices.keptLogs * given.logMonths),
    metrics: given.metrics * prices.metric,
    traces: (traced / million) * prices.traces,
    "data sent": tiered(sum(({ sentBytes }) => sentBytes) / gigabyte, prices.sent, [10_240, 51_200]),
  };
}

/** All parts together, in whole USD. */
export function totalOf(cost: MonthlyCost): number {
  return Math.round(Object.values(cost).reduce((sum, part) => sum + part, 0));
}
