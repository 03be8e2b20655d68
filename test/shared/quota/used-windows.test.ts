import { expect, test } from "vitest";
import { UsedWindows } from "../../../shared/quota/used-windows.ts";

test("at most a thousand callers are remembered, those of last", () => {
  const used = new UsedWindows();
  const now = new Date();
  const callers = Array.from({ length: 1_500 }, (_, index) => `caller-${index}`);

  for (const caller of callers) used.add(caller, 7, 60, now);

  expect(callers.filter((caller) => used.has(caller, 7, 60, now))).toEqual(callers.slice(500));
});
