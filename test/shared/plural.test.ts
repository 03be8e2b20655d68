import { expect, test } from "vitest";
import { plural } from "../../shared/plural.ts";

test.each([
  [0, "records", "are"],
  [1, "record", "is"],
  [2, "records", "are"],
])("of %i, plural gives %s and %s", (count, noun, verb) => {
  expect(plural(count, "record")).toBe(noun);
  expect(plural(count, "is", "are")).toBe(verb);
});
