import { expect, test } from "vitest";
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
    "[a](b.md#c) [d](design.md) [e](https://f.example/g.md) `tools/none.ts` `tools/docs.ts` `test/none/`";

  expect(missingPaths(text, process.cwd(), "docs/page.md")).toEqual([
    "docs/b.md",
    "tools/none.ts",
    "test/none/",
  ]);
});
