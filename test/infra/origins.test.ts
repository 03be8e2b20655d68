import { describe, expect, test } from "vitest";
import { originsPattern, parseOrigins } from "../../infra/origins.ts";
import { words } from "../support/words.ts";

const matches = (list: string, origin: string) =>
  new RegExp(`^(?:${originsPattern(parseOrigins(list) ?? [])})$`).test(origin);

describe("a list of origins", () => {
  test.each([
    ["", []],
    ["https://app.example", ["https://app.example"]],
    ["https://a.example, https://b.example:8443", ["https://a.example", "https://b.example:8443"]],
    ["http://localhost:*,http://127.0.0.1:5173", ["http://localhost:*", "http://127.0.0.1:5173"]],
  ])("corsOrigins=%j is read as %j", (list, origins) => {
    expect(parseOrigins(list)).toEqual(origins);
  });

  test.each([
    'https://a.example"',
    Array.from({ length: 21 }, (_, index) => `https://a${index}.example`).join(","),
    ...words(`
      * null app.example https://app.example/ https://App.example https://*.example
      https://app.example:* https://app.example:0 https://user@app.example http://app.example
      http://localhost.evil.example:80 https://a.example,
    `),
  ])("corsOrigins refuses %j", (list) => {
    expect(parseOrigins(list)).toBeUndefined();
  });
});

describe("the pattern of origins", () => {
  const list = "https://app.example,https://b.example:8443,http://localhost:*";

  test.each(["https://app.example", "https://b.example:8443", "http://localhost", "http://localhost:5173"])(
    "the pattern of corsOrigins matches %s",
    (origin) => {
      expect(matches(list, origin)).toBe(true);
    },
  );

  test.each([
    "",
    ...words(`
      https://appxexample https://app.example.evil.example https://evil.example?https://app.example
      https://app.example:443 https://b.example http://app.example http://localhost:5173.evil.example
      https://localhost:5173 http://localhost:123456 null
    `),
  ])("the pattern of corsOrigins does not match %s", (origin) => {
    expect(matches(list, origin)).toBe(false);
  });

  test("the pattern of corsOrigins has no characters that a mapping template interprets", () => {
    expect(originsPattern(parseOrigins(list) ?? [])).not.toMatch(/[\\$#"]/);
  });
});
