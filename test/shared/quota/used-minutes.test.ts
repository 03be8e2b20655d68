import { expect, test } from "vitest";
import { UsedMinutes } from "../../../shared/quota/used-minutes.ts";

test("at most a thousand callers are remembered, those of last", () => {
  const used = new UsedMinutes();
  const callers = Array.from({ length: 1_500 }, (_, index) => `caller-${index}`);

  for (const caller of callers) used.add(caller, 7, 60);

  expect(callers.filter((caller) => used.has(caller, 7, 60))).toEqual(callers.slice(500));
});
