import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readEvent, readEventFile, replayedAt } from "../../tools/event-files.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();

const receivedAt = Date.UTC(2026, 10, 21, 10);
const now = new Date(receivedAt + 100.7 * 3_600_000);

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

test("npm run invoke moves the period of an event by the whole hours since it was received", () => {
  expect(replayedAt(eventWith(body), now)).toEqual(eventWith(moved));
});

test("npm run invoke moves startTime by 101 hours and accessTokenExpiresUtc by 100 when an event was recorded 100 hours and 48 minutes ago", () => {
  const late = new Date(receivedAt + 100.8 * 3_600_000);
  const body = '{"startTime":"2026-11-21T11:25:00Z","accessTokenExpiresUtc":"2026-11-21T11:25:00Z"}';
  const moved = '{"startTime":"2026-11-25T16:25:00.000Z","accessTokenExpiresUtc":"2026-11-25T15:25:00.000Z"}';
  expect(replayedAt(eventWith(body), late)).toEqual(eventWith(moved));
});

test("npm run invoke moves the period in a base64 body", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  expect(replayedAt(eventWith(base64(body), true), now)).toEqual(eventWith(base64(moved), true));
});

test.each([null, "", "{}", "not JSON", '{"startTime":"soon"}', '{"startTime":"2026-02-30T00:00:00Z"}'])(
  "npm run invoke leaves an event without a valid time as it is: %j",
  (text) => {
    expect(replayedAt(eventWith(text), now)).toEqual(eventWith(text));
  },
);

test("npm run invoke refuses a file that is named after another function than its route's", async () => {
  const event = await readFile("events/qos-profiles/retrieve.200-all.json");
  const path = await folder.write("qos-profiles/get-by-name.200-all.json", event);

  await expect(readEventFile(path)).rejects.toThrow(
    "is for qos-profiles/retrieve: name it qos-profiles/retrieve.<status>-<case>.json",
  );
});

test("ncs event prints the event with its period moved to now", async () => {
  const { stdout } = await runNcs(["event", "events/population-density/retrieve.200-example.json"]);
  const { startTime } = JSON.parse(JSON.parse(stdout).body);

  expect(Math.abs(Date.parse(startTime) - Date.now())).toBeLessThan(7 * 24 * 3_600_000);
});

test.each([
  ["permission-denied", { requestContext: { authorizer: { client: "1000", scope: "" } } }],
  ["invalid-argument", { headers: { "Content-Type": "application/json", "x-correlator": "not valid!" } }],
])("ncs event --fault %s prints the event with what is wrong with its request", async (fault, changed) => {
  const file = "events/qos-profiles/retrieve.200-all.json";
  const { stdout } = await runNcs(["event", file, "--fault", fault]);

  expect(JSON.parse(stdout)).toMatchObject({
    resource: "/qualityondemand/retrieve-qos-profiles",
    ...changed,
  });
});

test("ncs event names the nearest route when no function answers that of the event", async () => {
  const { event } = await readEvent("events/number-recycling/check.200-recycled.json");
  const mine = { ...(event as object), resource: "/numberrecycling/chek" };
  const { code, stderr } = await runNcs(["event", await folder.write("mine.json", mine)]);

  expect(code).toBe(1);
  expect(stderr).toContain(
    "no function answers POST /numberrecycling/chek; the nearest route is POST /numberrecycling/check",
  );
});
