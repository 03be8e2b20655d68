import { expect, test } from "vitest";
import { whileChanged } from "../../../shared/aws/while-changed.ts";

test.each<[found: number, tries: number, result: string | undefined, made: number]>([
  [1, 3, "written", 1],
  [3, 3, "written", 3],
  [4, 3, undefined, 3],
])(
  "a write that succeeds the %i. time, of at most %i, gives %s after %i tries",
  async (found, tries, result, made) => {
    let count = 0;
    const write = async () => (++count < found ? undefined : "written");

    expect(await whileChanged(tries, write)).toBe(result);
    expect(count).toBe(made);
  },
);
