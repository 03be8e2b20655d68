import { type Command, InvalidArgumentError } from "commander";
import { assumptions, costOf, totalOf } from "./cost-rules.ts";
import type { Print } from "./print.ts";

interface CostOptions {
  readonly densities: number;
  readonly others: number;
  readonly tokens: number;
}

/** `ncs cost`: what `prod` costs a month with the requests that are expected, by part. */
export function addCost(command: Command, print: Print): void {
  command
    .option("--densities <number>", "requests a second for densities, of all callers", rateOf, 0)
    .option("--others <number>", "requests a second of all others, of all callers", rateOf, 0)
    .option("--tokens <number>", "tokens a second for subscribers, of all clients", rateOf, 0)
    .addHelpText(
      "after",
      "\nOn average over a month, at list prices of us-east-1 without free tiers, discounts, support and tax. " +
        "What is assumed of a\nrequest: docs/limits-and-cost.md.",
    )
    .action(({ densities, others, tokens }: CostOptions) => {
      const { secondsOfMonth } = assumptions;
      const requests = {
        densities: densities * secondsOfMonth,
        others: others * secondsOfMonth,
        tokens: tokens * secondsOfMonth,
      };
      const cost = costOf(requests);
      for (const [part, dollars] of Object.entries(cost)) print(lineOf(part, dollars));
      const all = totalOf(cost);
      print(lineOf("all, USD a month", all));
      const totalWith = (settings: Parameters<typeof costOf>[2]) =>
        totalOf(costOf(requests, assumptions, settings));
      print(lineOf("alarms=essential saves", all - totalWith({ alarms: "essential" })));
      print(lineOf("tracing=true adds", totalWith({ tracing: true }) - all));
      const saved = totalOf(costOf(requests, { ...assumptions, recordClass: "standard" })) - all;
      if (saved > 0) print(lineOf("saved by infrequent access", saved));
    });
}

function rateOf(text: string): number {
  if (/^\d{1,7}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number from 0 to 9999999 with at most six decimals.");
}

function lineOf(part: string, dollars: number): string {
  return `${part.padEnd(28)}${dollars.toFixed(2).padStart(12)}`;
}
