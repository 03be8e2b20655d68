import { expect, test } from "vitest";
import { outcomeOf, retryAfterSeconds } from "../../../shared/sinks/sink-answer.ts";
import { words } from "../../support/words.ts";

test.each([
  ["delivered", "2xx", [200, 201, 202, 204, 299]],
  ["failed", "408, 429 and 5xx", [408, 429, 500, 501, 502, 503, 504, 511, 599]],
  [
    "refused",
    "any other status",
    [0, 101, 199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 410, 413, 422, 499, 600, 999],
  ],
])("a delivery is %s when its sink answers %s", (outcome, _, statuses) => {
  expect(statuses.map(outcomeOf)).toEqual(statuses.map(() => outcome));
});

const now = new Date("2026-03-01T12:00:00.500Z");

test.each<[string, number]>([
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
  ["Sunday, 01-Mar-26 12:01:00 GMT", 60],
  ["Tuesday, 01-Mar-77 12:01:00 GMT", 0],
  ["Saturday, 29-Feb-76 12:01:00 GMT", 3_600],
  ["Sun Mar  1 12:01:00 2026", 60],
  ["Thu Jan 01 00:00:00 1970", 0],
  ["Fri Dec 31 23:59:59 9999", 3_600],
])("Retry-After: %s asks for %i s", (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds);
});

test("a Retry-After of 1,000 digits asks for 3,600 s", () => {
  expect(retryAfterSeconds("9".repeat(1_000), now)).toBe(3_600);
});

test.each([
  undefined,
  "",
  "5 ",
  "5, 6",
  "Mon, 01 Mar 2026 12:01:00 GMT",
  "Sun, 1 Mar 2026 12:01:00 GMT",
  "Sun, 01 Mar 2026 12:01:00 UTC",
  "Sun, 01 Mar 2026 12:01:00 +0100",
  "Sun, 01-Mar-26 12:01:00 GMT",
  "Monday, 01-Mar-26 12:01:00 GMT",
  "Sunday, 01-Mar-2026 12:01:00 GMT",
  "Sun Mar 1 12:01:00 2026",
  "Mon Mar  1 12:01:00 2026",
  "Sun Mar  1 12:01:00 2026 GMT",
  "Mon, 30 Feb 2026 12:01:00 GMT",
  "Sun, 01 Mar 2026 24:00:00 GMT",
  ...words(`
      -5 +5 1.5 1e3 0x10 Infinity soon 2026-03-01T12:01:00Z
    `),
])("the invalid Retry-After %j is ignored", (header) => {
  expect(retryAfterSeconds(header, now)).toBeUndefined();
});
