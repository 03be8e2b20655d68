import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { countedBytes, isLarge } from "../../functions/population-density/query/bytes.ts";
import { authenticate } from "../../functions/profile/contract.ts";
import { endpointTable } from "../../tools/docs/endpoint-table.ts";
import { missingPaths } from "../../tools/docs/missing-paths.ts";

test("the table of endpoints has a row with the addresses, the summary and the scope of an endpoint", () => {
  expect(endpointTable([authenticate]).split("\n").slice(2)).toEqual([
    "| Log in | `POST /v3/profile/authenticate` | `/profile/authenticate` | 200 | none |",
  ]);
});

test("npm run docs finds links and paths that lead to no file, and no addresses", () => {
  const text =
    "[a](b.md#c) [d](design.md) [e](https://f.example/g.md) `tools/none.ts` `tools/docs/docs.ts` `test/none/`";

  expect(missingPaths(text, process.cwd(), "docs/page.md")).toEqual([
    "docs/b.md",
    "tools/none.ts",
    "test/none/",
  ]);
});

type Format = Parameters<typeof countedBytes>;

test.each<[name: string, ...Format]>([
  ["JSON", "application/json"],
  ["CSV", "text/csv"],
  ["CSV with a point", "text/csv", { geometry: "POINT" }],
  ["CSV with WKT", "text/csv", { geometry: "WKT" }],
  ["NDJSON", "application/x-ndjson"],
  ["GeoJSON", "application/geo+json"],
  ["GeoJSON by hour", "application/geo+json", { featuresPer: "HOUR" }],
])(
  "docs/formats.md says the bytes of %s, and the most cells of an answer that is not large",
  (name, ...format) => {
    const pattern = new RegExp(`^\\| ${name} \\| (.*) \\| (.*) cells \\| (.*) cells \\|$`, "m");
    const [, bytes, ...numbers] = pattern.exec(readFileSync("docs/formats.md", "utf8")) ?? [];
    const { cell, slot } = countedBytes(...format);
    expect(bytes).toBe(cell === 0 ? `${slot}` : `${slot}, and ${cell} for each cell`);
    for (const [index, hours] of [1, 24].entries()) {
      const most = Number(numbers[index]?.replace(",", ""));
      expect(isLarge({ cells: most, slots: most * hours }, ...format)).toBe(false);
      expect(isLarge({ cells: most + 1, slots: (most + 1) * hours }, ...format)).toBe(true);
    }
  },
);
