import { assumptions, costOf, type MonthlyCost, totalOf } from "../cli/cost-rules.ts";
import { markdownTable } from "./generated-part.ts";

const months = [0, 100_000, 1_000_000, 10_000_000, 100_000_000];

/** What `prod` costs with so many device, number or QoS requests a month, by part. */
export function costTable(): string {
  const costs = months.map((others) => costOf({ densities: 0, others }));
  const standard = months.map((others) =>
    wholeOf(costOf({ densities: 0, others }, { ...assumptions, recordClass: "standard" })),
  );
  const parts = Object.keys(costs.at(-1) ?? {});
  const counts = months.map((count) => count.toLocaleString("en"));
  return markdownTable(
    ["USD a month, with requests a month of the first kind", ...counts],
    [
      ["`prod`", ...costs.map((cost) => `**${wholeOf(cost)}**`)],
      ...parts.map((part) => [
        part,
        ...costs.map((cost) => (cost[part] ?? 0).toFixed(part === parts[0] ? 2 : 1)),
      ]),
      ["with records in the standard class", ...standard],
    ],
  );
}

/** Requests a second, as people say them. */
const rates = { "1,000 a day": 1_000 / 86_400, "200 a second": 200, "10,000 a second": 10_000 };

/** What the settings on which it depends make of the cost of `prod`, with so many requests of the first kind. */
export function costBySettings(): string {
  const rowOf = (name: string, settings: Parameters<typeof costOf>[2]) => {
    const costs = Object.values(rates).map((rate) =>
      totalOf(costOf({ densities: 0, others: rate * assumptions.secondsOfMonth }, assumptions, settings)),
    );
    return [
      name,
      ...costs.map((cost) => cost.toLocaleString("en", { maximumFractionDigits: cost < 100 ? 2 : 0 })),
    ];
  };
  return markdownTable(
    ["USD a month, with requests of the first kind", ...Object.keys(rates)],
    [
      rowOf("`tracing=true`, the default until November 2026", { tracing: true }),
      rowOf("no setting", {}),
      rowOf("`alarms=essential`", { alarms: "essential" }),
    ],
  );
}

function wholeOf(cost: MonthlyCost): string {
  return totalOf(cost).toFixed(0);
}
