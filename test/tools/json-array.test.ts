import { rm } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { elementsOf } from "../../tools/import/json-array.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { runs } from "../support/sample.ts";

const folder = useOwnFolder();

async function read(content: string | Uint8Array): Promise<unknown[]> {
  const path = await folder.write(crypto.randomUUID(), content);
  const elements: unknown[] = [];
  for await (const some of elementsOf(path)) elements.push(...some);
  await rm(path);
  return elements;
}

describe("a file that is an array", () => {
  test("ncs import reads what JSON.parse reads for any elements and white space", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.constantFrom("", " ", "\t", "\r\n"),
        async (array, space) => {
          for (const text of [
            JSON.stringify(array),
            `${space}${JSON.stringify(array, null, space)}${space}`,
          ]) {
            expect(await read(text)).toEqual(JSON.parse(text));
            expect(await read(`\ufeff${text}`)).toEqual(JSON.parse(text));
          }
        },
      ),
    );
  });

  test("ncs import reads what JSON.parse reads for a file of many chunks", async () => {
    // More bytes than are read at once, with each kind of byte at a border of some piece.
    const array = Array.from({ length: 30_000 }, (_, index) => ({ [`é\\"${index}`]: ["],[", index, {}] }));
    const text = JSON.stringify(array);
    expect(JSON.stringify(await read(text)) === text).toBe(true);
  });

  test("ncs import reads __proto__ as a member that changes no other object", async () => {
    const [element] = await read('[{"__proto__":{"polluted":true}}]');
    expect(Object.keys(element as object)).toEqual(["__proto__"]);
  });
});

describe("a file that is refused", () => {
  test.each([
    ["an object", "{}"],
    ["a number", "7"],
  ])("ncs import refuses %s instead of an array", async (_, text) => {
    await expect(read(text)).rejects.toThrow("is not an array of records");
  });

  test("ncs import refuses bytes that are not UTF-8", async () => {
    await expect(read(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]))).rejects.toThrow("is not UTF-8");
  });

  test("ncs import reads or refuses a randomly changed array as JSON.parse does", async () => {
    const text = '[{"a":[1,"x\\"]"],"b":{}},null,"é,",[[]],-1.5e3]';
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.constantFrom("", ...'[]{},:"\\ 1a'), async (at, other) => {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        const parsed = await Promise.resolve(changed)
          .then(JSON.parse)
          .catch(() => undefined);
        const elements = await read(changed).catch(() => undefined);
        expect(elements).toEqual(Array.isArray(parsed) ? parsed : undefined);
      }),
      { numRuns: runs(300, 100) },
    );
  });
});
