import { describe, expect, test } from "vitest";
import { replayedAt } from "../../tools/event-files.ts";

const receivedAt = Date.UTC(2026, 10, 21, 10);
const now = new Date(receivedAt + 100.9 * 3_600_000);

function eventWith(body: string | null, isBase64Encoded = false) {
  return {
    path: "/p",
    body,
    isBase64Encoded,
    requestContext: { requestTimeEpoch: receivedAt, stage: "live" },
  };
}

const body = '{"startTime":"2026-11-21T11:25:00Z","endTime":"2026-11-21T14:00:00+01:00","precision":7}';
const moved = '{"startTime":"2026-11-25T15:25:00.000Z","endTime":"2026-11-25T17:00:00.000Z","precision":7}';

describe("replayedAt", () => {
  test("replayedAt moves the period of an event by the whole hours since it was received", () => {
    expect(replayedAt(eventWith(body), now)).toEqual(eventWith(moved));
  });

  test("replayedAt moves the period in a base64 body", () => {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    expect(replayedAt(eventWith(base64(body), true), now)).toEqual(eventWith(base64(moved), true));
  });

  test.each([null, "", "{}", "not JSON", '{"startTime":"soon"}', '{"startTime":"2026-02-30T00:00:00Z"}'])(
    "replayedAt leaves an event without a valid time as it is: %j",
    (text) => {
      expect(replayedAt(eventWith(text), now)).toEqual(eventWith(text));
    },
  );

  test("replayedAt leaves an event that is no HTTP request as it is", () => {
    expect(replayedAt({ Records: [] }, now)).toEqual({ Records: [] });
  });
});
