import { expect, test } from "vitest";
import { authenticate } from "../../functions/profile/contract.ts";
import { endpointTable } from "../../tools/docs/endpoint-table.ts";
import { withGeneratedPart, withGeneratedValue } from "../../tools/docs/generated-part.ts";
import { missingPaths } from "../../tools/docs/missing-paths.ts";

test("endpointTable has a row with the addresses, the summary and the scope of an endpoint", () => {
  expect(endpointTable([authenticate]).split("\n").slice(2)).toEqual([
    "| Log in | `POST /v3/profile/authenticate` | `/profile/authenticate` | 200 | none |",
  ]);
});

test("withGeneratedPart replaces what stands between its lines, and nothing else", () => {
  const before = "# Title\n\n<!-- list -->\nold\n<!-- /list -->\n\nText.\n";
  const after = withGeneratedPart(before, "list", "new");

  expect(after).toBe("# Title\n\n<!-- list -->\n\nnew\n\n<!-- /list -->\n\nText.\n");
  expect(withGeneratedPart(after, "list", "new")).toBe(after);
});

test.each(["", "<!-- list -->\n", "<!-- /list -->\n<!-- list -->\n"])(
  "withGeneratedPart refuses a text without both lines in order: %j",
  (text) => {
    expect(() => withGeneratedPart(text, "list", "new")).toThrow("<!-- list --> and <!-- /list -->");
  },
);

test("withGeneratedValue replaces the words between its marks", () => {
  const before = "It takes <!-- minutes -->5<!-- /minutes --> minutes.";

  expect(withGeneratedValue(before, "minutes", 7)).toBe(
    "It takes <!-- minutes -->7<!-- /minutes --> minutes.",
  );
});

test("withGeneratedValue refuses a text without its marks", () => {
  expect(() => withGeneratedValue("It takes 5 minutes.", "minutes", 7)).toThrow("<!-- minutes -->");
});

test("missingPaths finds links and paths that lead to no file, and no addresses", () => {
  const text =
    "[a](b.md#c) [d](design.md) [e](https://f.example/g.md) `tools/none.ts` `tools/docs.ts` `test/none/`";

  expect(missingPaths(text, process.cwd(), "docs/page.md")).toEqual([
    "docs/b.md",
    "tools/none.ts",
    "test/none/",
  ]);
});
