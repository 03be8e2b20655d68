import { expect, test } from "vitest";
import { Pace } from "../../../shared/aws/pace.ts";

/** Lets everything that has been resolved go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("an import starts calls in order, as many at a time as its limit allows", async () => {
  const pace = new Pace(8, 2);
  const begun: number[] = [];
  const turns = [0, 1, 2, 3].map(async (call) => {
    const turn = await pace.turn();
    begun.push(call);
    return turn;
  });
  await settled();
  expect(begun).toEqual([0, 1]);
  (await turns[0])?.end("failed");
  await settled();
  expect(begun).toEqual([0, 1, 2]);
  (await turns[1])?.end("failed");
  await settled();
  expect(begun).toEqual([0, 1, 2, 3]);
});

test("an import halves its limit once for all throttled calls under way, down to one", async () => {
  const pace = new Pace(8, 8);
  const turns = await Promise.all(Array.from({ length: 8 }, () => pace.turn()));
  for (const { end } of turns) end("throttled");
  expect(pace.limit).toBe(4);
  for (const limit of [2, 1, 1]) {
    (await pace.turn()).end("throttled");
    expect(pace.limit).toBe(limit);
  }
});

test("an import raises its limit with each completed call, up to the maximum", async () => {
  const pace = new Pace(3, 1);
  for (let call = 0; call < 20; call++) (await pace.turn()).end("done");
  expect(pace.limit).toBe(3);
});
