import { expect, test, vi } from "vitest";
import { HeldDay, settledParts } from "../../../../functions/population-density/import/store/day-lease.ts";
import { freeDay, takeDay } from "../../../../functions/population-density/import/store/part-store.ts";
import { observedDay } from "../../../../functions/population-density/tiles/store.ts";
import { friday, useOwnDensities } from "../../../support/stored-days.ts";

useOwnDensities();

const key = observedDay(friday);
const [writer, hour, minute] = ["one", 3_600_000, 60_000];

/** A day that is held for an hour, by clocks that the test sets. */
async function heldBy(clocks: readonly (() => number)[]): Promise<HeldDay> {
  expect(await takeDay(key, writer, Date.now() + hour, undefined)).toBe(true);
  const held = new HeldDay(key, friday, [], writer, clocks);
  await held.hold();
  return held;
}

test("a writer stops within a minute when its day is released", async () => {
  let now = 0;
  const held = await heldBy([() => now]);
  await freeDay(key, writer);
  now += minute;
  await expect(held.hold()).rejects.toThrow(`${friday}: another import has started to store it`);
});

test.each([
  ["the time of day is put back", [-hour, minute]],
  ["the machine sleeps, which stops its other clock", [minute, 0]],
])("a writer looks at its lease again after a minute although %s", async (_, advanced) => {
  const clocks = [hour, 0];
  const held = await heldBy(clocks.map((_, index) => () => clocks[index] ?? 0));
  await freeDay(key, writer);
  for (const [index, milliseconds] of advanced.entries()) clocks[index] = (clocks[index] ?? 0) + milliseconds;
  await expect(held.hold()).rejects.toThrow(`${friday}: another import has started to store it`);
});

test("a writer that has just looked at its lease writes without another look", async () => {
  const held = await heldBy([() => 0]);
  await freeDay(key, writer);
  await expect(held.hold()).resolves.toBeUndefined();
});

test("an import that waits for a day says once for which, and until when another one has it", async () => {
  const [until, told] = [Date.now() + 700, vi.fn()];
  await takeDay(key, writer, until, undefined);
  await settledParts(key, friday, until + hour, told);
  expect(told.mock.calls).toEqual([[friday, until]]);
});
