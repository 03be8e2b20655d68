import { describe, expect, test } from "vitest";
import { outcomeOf, retryAfterSeconds } from "../../../shared/sinks/sink-answer.ts";

test.each([
  ["delivered", [200, 201, 202, 204, 299]],
  ["failed", [408, 429, 500, 501, 502, 503, 504, 511, 599]],
  ["refused", [0, 101, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 410, 413, 422, 499, 600, 999]],
])("outcomeOf returns %s for each of its statuses", (outcome, statuses) => {
  expect(statuses.map(outcomeOf)).toEqual(statuses.map(() => outcome));
});

describe("retryAfterSeconds", () => {
  const now = new Date("2026-03-01T12:00:00.500Z");

  test.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ["0", 0],
    ["1", 1],
    ["2", 2],
    ["007", 7],
    ["120", 120],
    ["3600", 3_600],
    ["3601", 3_600],
    ["Sun, 01 Mar 2026 12:01:00 GMT", 60],
    ["Sun, 01 Mar 2026 12:00:00 GMT", 0],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 3_600],
    ["", undefined],
    ["-5", undefined],
    ["+5", undefined],
    ["1.5", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["5 ", undefined],
    ["5, 6", undefined],
    ["Infinity", undefined],
    ["soon", undefined],
    ["Mon, 01 Mar 2026 12:01:00 GMT", undefined],
    ["Sun, 1 Mar 2026 12:01:00 GMT", undefined],
    ["Sun, 01 Mar 2026 12:01:00 UTC", undefined],
    ["Sun, 01 Mar 2026 12:01:00 +0100", undefined],
    ["Sunday, 01-Mar-26 12:01:00 GMT", undefined],
    ["Sun Mar  1 12:01:00 2026", undefined],
    ["2026-03-01T12:01:00Z", undefined],
    ["Mon, 30 Feb 2026 12:01:00 GMT", undefined],
    ["Sun, 01 Mar 2026 24:00:00 GMT", undefined],
  ])("retryAfterSeconds reads the header %j as %j seconds", (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });

  test("retryAfterSeconds reads a number of a thousand digits as an hour", () => {
    expect(retryAfterSeconds("9".repeat(1_000), now)).toBe(3_600);
  });
});
