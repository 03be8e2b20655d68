import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

test("every path that the walk-through names is there", async () => {
  const text = await readFile("docs/adding-an-area.md", "utf8");
  const paths = [...text.matchAll(/`((?:functions|shared|infra|tools|events|test|docs)\/[^`]*)`/g)].map(
    ([, path]) => path ?? "",
  );
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
