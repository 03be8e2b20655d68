import { expect, test } from "vitest";
import * as z from "zod";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { incomingRequest } from "../../shared/http/event.ts";
import { parseBody, parseParameters } from "../../shared/http/request.ts";
import { eventOf, type Sent } from "../support/pipeline.ts";
import { goodRequests } from "../support/sample-requests.ts";

/** The error with which a request is refused before its handler runs. */
function refusalOf(endpoint: Endpoint, sent: Sent): { code: string; message: string | undefined } {
  const incoming = incomingRequest(eventOf(sent));
  try {
    parseParameters(endpoint, incoming);
    parseBody(endpoint, incoming);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, message: error.details.message };
  }
  throw new Error("the request was not refused");
}

const messageOf = (endpoint: Endpoint, body: unknown) =>
  refusalOf(endpoint, { body: JSON.stringify(body) }).message;

const boundary = [
  { latitude: 45.1, longitude: 4.1 },
  { latitude: 45.2, longitude: 4.1 },
  { latitude: 45.2, longitude: 4.2 },
];
const period = { startTime: "2026-11-23T11:00:00Z", endTime: "2026-11-23T12:00:00Z" };

test("a refusal names all wrong members at once", () => {
  const body = { area: { areaType: "POLYGON", boundary }, endTime: "tomorrow", precision: 0.5 };
  expect(messageOf(retrievePopulationDensity, body)).toBe(
    [
      "startTime is missing.",
      "endTime must be a date-time with a zone (RFC 3339) such as 2026-11-23T11:25:00Z.",
      "precision must be an integer.",
    ].join(" "),
  );
});

test("a refusal names at most ten wrong members and counts the others", () => {
  const area = { areaType: "POLYGON", boundary: Array.from({ length: 15 }, () => ({})) };
  const message = messageOf(retrievePopulationDensity, { area, ...period }) ?? "";
  expect(message.match(/is missing/g)).toHaveLength(10);
  expect(message).toMatch(/ And 20 more\.$/);
});

/** Values of every type, none of which is right by chance. */
const wrong: readonly unknown[] = ["zq!", "", 1e9, -1e9, 0.5, true, null, [], ["zq!"], {}, { zq: "zq!" }];

/** Bodies in which one member of a good one, at any depth, is another value or absent. */
function changed(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const container = value as Readonly<Record<string, unknown>>;
  const withMember = (name: string, member: unknown): unknown =>
    Array.isArray(value)
      ? value.map((one, index) => (String(index) === name ? member : one))
      : { ...container, [name]: member };
  return Object.entries(container).flatMap(([name, member]) =>
    [undefined, ...wrong, ...changed(member)].map((other) => withMember(name, other)),
  );
}

test("a refusal says what was expected and repeats nothing that was sent", async () => {
  const samples = await goodRequests();
  let refused = 0;
  for (const { endpoint, body } of samples) {
    const schema = endpoint.body;
    if (schema === undefined || body === undefined) continue;
    for (const other of changed(z.json().parse(JSON.parse(body)))) {
      if (schema.safeParse(other).success) continue;
      refused++;
      const message = messageOf(endpoint, other) ?? "";
      expect(message).not.toBe("");
      expect(message).not.toContain("zq");
      expect(message).not.toContain("another form than is documented");
    }
  }
  expect(refused).toBeGreaterThan(0);
});
