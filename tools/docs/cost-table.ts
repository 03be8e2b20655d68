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

function wholeOf(cost: MonthlyCost): string {
  return totalOf(cost).toFixed(0);
}
