import { expect, test } from "vitest";
import { authenticate } from "../../functions/profile/contract.ts";
import { endpointTable } from "../../tools/docs/endpoint-table.ts";
import { largeAnswersTable } from "../../tools/docs/large-answers-table.ts";
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

test("the table of large answers has the bytes and the most cells of each format that is asked for", () => {
  const [head, , ...rows] = largeAnswersTable().split("\n");
  expect([head, ...rows]).toEqual([
    "| Format | Bytes for each cell in each hour | Large above, in one hour | In 24 hours |",
    "| JSON | 115 | 1,739 cells | 72 cells |",
    "| CSV | 96 | 2,083 cells | 86 cells |",
    "| CSV with a point | 133 | 1,503 cells | 62 cells |",
    "| CSV with WKT | 285 | 701 cells | 29 cells |",
    "| NDJSON | 216 | 925 cells | 38 cells |",
    "| GeoJSON | 50, and 455 for each cell | 396 cells | 120 cells |",
    "| GeoJSON by hour | 483 | 414 cells | 17 cells |",
  ]);
});
