import { expect, test } from "vitest";
import { assumptions, costOf, totalOf } from "../../tools/cli/cost-rules.ts";
import { runNcs } from "../support/ncs.ts";

/** An amount of a month, and the list price of one in USD. */
type Item = readonly [amount: number, price: number];

/**
 * The bill of a month of 30 days with 10,000 subscriber requests a second, computed by hand from AWS's prices and the
 * assumptions of docs/limits-and-cost.md: 25 ms at 512 MB, a start of half a second for every 500, a write that counts
 * and one of the record (180 bytes and DynamoDB's 100, of a year), two reads, 840 and 510 bytes of logs, 1,000 bytes
 * sent.
 */
const parts: Readonly<Record<string, readonly Item[]>> = {
  // Key, secret, dashboard, metrics of alarms, composite alarms, polling.
  "what stands": [
    [1, 1],
    [1, 0.4],
    [1, 3],
    [162, 0.1],
    [9, 0.5],
    [1, 0.25],
  ],
  "API Gateway": [
    [333, 3.5],
    [667, 2.8],
    [19_000, 2.38],
    [5_920, 1.51],
  ],
  functions: [
    [25_920, 0.2],
    [324_000_000 + 12_960_000, 0.0000133],
  ],
  tables: [
    [25_920, 0.625],
    [51_840, 0.125],
  ],
  "records of who read what": [
    [25_920, 0.78],
    [88_301, 0.1],
    [88_301, 0.2],
  ],
  logs: [
    [10_240, 0.5],
    [11_533, 0.25],
    [13_219, 0.5],
    [15_746, 0.03],
  ],
  metrics: [[31, 0.3]],
  traces: [[2.592 + 1_295.87, 5]],
  "data sent": [
    [10_240, 0.09],
    [15_680, 0.085],
  ],
};

/** How far two sums differ, as a share of the second. */
function difference(found: number, wanted: number): number {
  return Math.abs(found - wanted) / wanted;
}

const sumOf = (items: readonly Item[]) => items.reduce((sum, [amount, price]) => sum + amount * price, 0);

const busiest = { densities: 0, others: 10_000 * assumptions.secondsOfMonth };

test("each part of the bill for a month of 10,000 requests a second is within 3 % of a computation by hand", () => {
  const cost = costOf(busiest, assumptions, { tracing: true });
  expect(Object.keys(cost)).toEqual(Object.keys(parts));
  const wrong = Object.entries(parts).filter(
    ([part, items]) => difference(cost[part] ?? 0, sumOf(items)) > 0.03,
  );
  expect(wrong.map(([part]) => [part, cost[part]])).toEqual([]);
});

test("the bill for a month of 10,000 requests a second is within 3 % of the 160,568 USD that a review of the template came to", () => {
  const { metrics: _, alarms, ...others } = assumptions;
  const then = { ...others, metrics: 29, alarms: { ...alarms, all: { metrics: 154, composites: 9 } } };
  expect(difference(totalOf(costOf(busiest, then, { tracing: true })), 160_568)).toBeLessThan(0.03);
});

test("without tracing a stage with 200 requests a second costs 142 USD a month less", () => {
  const requests = { densities: 0, others: 200 * assumptions.secondsOfMonth };
  const [off, on] = [{}, { tracing: true }].map((settings) =>
    totalOf(costOf(requests, assumptions, settings)),
  );
  expect((on ?? 0) - (off ?? 0)).toBeCloseTo(142, 0);
});

/** The amounts that `ncs cost` prints, by what stands before them. */
async function printed(...args: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { code, stdout, stderr } = await runNcs(["cost", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  const lines = stdout.trimEnd().split("\n");
  return new Map(
    lines.map((line) => line.split(/ {2,}/)).map(([part = "", dollars]) => [part, Number(dollars)]),
  );
}

test("ncs cost takes the rate of a lab with 1,000 requests a day, and says to the cent what it costs and saves without objectives", async () => {
  const cost = await printed("--others", "0.01157");
  // 35.02 with traces, by hand.
  expect(cost.get("all, USD a month")).toBeCloseTo(34.87, 1);
  expect(cost.get("tracing=true adds")).toBe(0.15);
  expect(cost.get("alarms=essential saves")).toBe(10.1);
});

test("ncs cost adds 8.43 USD for a million tokens of the 3-legged flow and their authorizers", async () => {
  const [without, cost] = [
    await printed("--others", "10"),
    await printed("--others", "10", "--tokens", "10"),
  ];
  const all = "all, USD a month";
  // By hand: 3.50, 0.67 for functions, 1.63 for tables, 1.80 for the record, 0.69 for logs and 0.14 sent.
  expect(((cost.get(all) ?? 0) - (without.get(all) ?? 0)) / 25.92).toBeCloseTo(8.43, 1);
});

test("ncs cost refuses a rate that is no number, and says which it takes", async () => {
  const { code, stderr } = await runNcs(["cost", "--others", "many"]);
  expect(code).toBe(1);
  expect(stderr).toContain("It must be a number from 0 to 9999999 with at most six decimals.");
});

test("ncs cost adds up by part what 500 densities and 2,000 others a second cost a month", async () => {
  const cost = await printed("--densities", "500", "--others", "2000");
  const [all = 0, saved = 0] = ["all, USD a month", "saved by infrequent access"].map((name) =>
    cost.get(name),
  );
  const parts = [...cost].slice(0, [...cost.keys()].indexOf("all, USD a month"));
  expect(parts.reduce((sum, [, part]) => sum + part, 0)).toBeCloseTo(all, 0);
  // 6,480 million requests: 333 at 3.50, 667 at 2.80 and the others at 2.38.
  expect(cost.get("API Gateway")).toBe(16_075.5);
  expect(saved).toBeGreaterThan(500);
});
