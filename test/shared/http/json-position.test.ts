import * as fc from "fast-check";
import { expect, test } from "vitest";
import { invalidJsonAt } from "../../../shared/http/json-position.ts";
import { runs } from "../../support/sample.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const pieces = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  '"a"',
  "\\",
  "\\u00e9",
  "-",
  "0",
  "1.5e-3",
  "true",
  "nul",
  " ",
  "\n",
  "é",
];
/** JSON with a few characters lost, and pieces of JSON in any order. */
const nearJson = fc.oneof(
  fc
    .tuple(fc.json(), fc.nat(), fc.nat(3))
    .map(([text, at, lost]) => text.slice(0, at % text.length) + text.slice((at % text.length) + lost)),
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join("")),
);

test("a refusal of JSON finds a position exactly when JSON.parse throws, and what precedes it could be JSON", () => {
  fc.assert(
    fc.property(nearJson, (text) => {
      const place = invalidJsonAt(text);
      expect(place === undefined).toBe(isJson(text));
      if (place === undefined) return;
      const lines = text.split("\n");
      expect(place.column).toBeGreaterThanOrEqual(1);
      expect(place.column).toBeLessThanOrEqual((lines[place.line - 1] ?? "").length + 1);
    }),
    { numRuns: runs(20_000, 600) },
  );
});
