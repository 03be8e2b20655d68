import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../shared/errors.ts";
import { parseForm, parseJsonObject } from "../../../shared/http/body.ts";

/** The message of the refusal of a body. */
function refusalOf(body: string | null, isBase64Encoded = false): string | undefined {
  try {
    parseJsonObject(body, isBase64Encoded);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe("INVALID_ARGUMENT");
    return error.details.message;
  }
  return undefined;
}

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64");

/** An object nested so deep; the object itself is the first level. */
const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
const nestedObjects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

/** An object of so many bytes. */
const sized = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;

describe("a valid body", () => {
  test("a JSON body: reads a body from text and from base64 alike", () => {
    const text = '{"word":"grüße 🙂","number":1.5,"nothing":null}';
    const value = { word: "grüße 🙂", number: 1.5, nothing: null };

    expect(parseJsonObject(text, false)).toEqual(value);
    expect(parseJsonObject(base64(text), true)).toEqual(value);
  });

  test("a JSON body: accepts a body of exactly 64 KiB and refuses one byte more", () => {
    const umlauts = `{"a":"${"ü".repeat((65_536 - 8) / 2)}"}`;
    for (const body of [sized(65_536), umlauts]) {
      expect(Buffer.byteLength(body)).toBe(65_536);
      expect(refusalOf(body)).toBeUndefined();
      expect(refusalOf(base64(body), true)).toBeUndefined();
      const larger = body.replace('"}', '" }');
      expect(refusalOf(larger)).toBe("The body is larger than 64 KiB.");
      expect(refusalOf(base64(larger), true)).toBe("The body is larger than 64 KiB.");
    }
  });

  test("a JSON body: accepts 64 KiB and 32 levels of nesting, as docs/behaviour.md says, and refuses 33", () => {
    const page = readFileSync(new URL("../../../docs/behaviour.md", import.meta.url), "utf8");
    const [, kibibytes, levels] = /at most (\d+) KiB and (\d+) levels of objects and arrays/.exec(page) ?? [];
    expect([kibibytes, levels]).toEqual(["64", "32"]);
    for (const make of [nested, nestedObjects]) {
      expect(refusalOf(make(32))).toBeUndefined();
      expect(refusalOf(make(33))).toBe("The body is nested deeper than 32 levels.");
    }
    expect(refusalOf('{"a":[],"b":[[{}]]}')).toBeUndefined();
  });
});

describe("an invalid body", () => {
  test.each([null, ""])("a JSON body: refuses the missing body %j", (body) => {
    expect(refusalOf(body)).toBe("The request has no body.");
  });

  test.each([
    ["word", 1, 1],
    ['{"a":1}{}', 1, 8],
    ['{\r\n  "a": 1\n  "b": 2\n}', 3, 3],
    [" ", 1, 2],
  ])("a JSON body: refuses %j as no JSON and reports line %i, column %i", (body, line, column) => {
    const message = `The body is not JSON: see line ${line}, column ${column}.`;
    expect(refusalOf(body)).toBe(message);
    expect(refusalOf(base64(body), true)).toBe(message);
  });

  test.each(["[]", '[{"word":"w"}]', "null", "1", '"text"', "true"])(
    "a JSON body: refuses %s, which is no object",
    (body) => {
      expect(refusalOf(body)).toBe("The body is not a JSON object.");
    },
  );

  test.each([
    [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d],
    [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
    [0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d],
    [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d],
    [0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d],
  ])("a JSON body: refuses bytes that are not UTF-8", (...bytes) => {
    expect(refusalOf(base64(Uint8Array.from(bytes)), true)).toBe("The body is not UTF-8.");
  });

  test("a JSON body: refuses a hundred thousand levels of nesting without overflowing the stack", () => {
    expect(refusalOf(nested(32_000))).toBe("The body is nested deeper than 32 levels.");
    expect(refusalOf(nestedObjects(10_000))).toBe("The body is nested deeper than 32 levels.");
    expect(refusalOf(nested(100_000))).toBeDefined();
    expect(refusalOf("[".repeat(100_000))).toBeDefined();
    expect(refusalOf("[".repeat(60_000))).toBe("The body is not JSON: see line 1, column 60001.");
  });
});

describe("a form", () => {
  test("a form: reads parameters from text and from base64 alike", () => {
    const text = "scope=a%3Aread+b%3Aread&word=gr%C3%BC%C3%9Fe&__proto__=x";
    const read = [parseForm(text, false), parseForm(base64(text), true)].map(Object.entries);
    const expected = [
      ["scope", "a:read b:read"],
      ["word", "grüße"],
      ["__proto__", "x"],
    ];
    expect(read).toEqual([expected, expected]);
  });

  test.each([
    ["no body", null],
    ["a parameter that is there twice", "a=1&b=2&a=1"],
    ["more than 64 KiB", `a=${"x".repeat(65_535)}`],
  ])("a form: refuses %s", (_, body) => {
    expect(() => parseForm(body, false)).toThrow(ApiError);
  });
});
