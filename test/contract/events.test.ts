import { readdir } from "node:fs/promises";
import { APIGatewayProxyEventSchema } from "@aws-lambda-powertools/parser/schemas/api-gateway";
import { describe, expect, inject, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, failures } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { readEventFile } from "../../tools/event-files.ts";
import { sampleOf } from "../support/sample.ts";

const answer = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

/** Codes that API Gateway answers with in the function's stead, or that nothing in the request can cause. */
const neverFromTheFunction: Readonly<Record<string, readonly Code[]>> = {
  // An unknown path or verb is refused before the function; no match is an empty list.
  "qos-profiles/retrieve": ["NOT_FOUND"],
  // A name has no range: one of the wrong length is an invalid argument.
  "qos-profiles/get-by-name": ["OUT_OF_RANGE"],
  "population-density/retrieve": ["NOT_FOUND"],
  // It reads nothing that could be missing or away.
  "openapi/publish": failures,
  "openapi/catalog": failures,
};

/** The deadline needs a dependency that hangs; it is tested with the pipeline. */
const failuresWithEvents = failures.filter((code) => code !== "TIMEOUT");

const outcomeOf = (code: Code) => code.toLowerCase().replaceAll(/[._]/g, "-");

const files = (await readdir("events", { recursive: true }))
  .filter((file) => file.endsWith(".json") && !file.endsWith(".env.json"))
  .map((file) => `events/${file}`);
const events = await Promise.all(files.map(async (path) => ({ path, ...(await readEventFile(path)) })));
// An event with its own environment needs a thread of its own. The sample has each kind of failure, of some functions.
const replayed = [
  ...events.filter(({ environment }) => environment === undefined),
  ...sampleOf(
    events.filter(({ environment }) => environment !== undefined),
    7,
  ),
];

describe("events", () => {
  test("are events of API Gateway", () => {
    const others = events.flatMap(({ path, event }) => {
      const { error } = APIGatewayProxyEventSchema.safeParse(event);
      return error === undefined ? [] : [`${path}: ${error.message}`];
    });
    expect(others).toEqual([]);
    expect(events.length).toBeGreaterThan(100);
  });

  const byPath = replayed.map((replay) => [replay.path, replay] as const);
  test.each(byPath)("%s brings what its name says", async (_, replay) => {
    const { functionId, status, outcome, event, environment } = replay;
    const body = JSON.stringify({ functionId, event, environment });
    const response = await fetch(inject("invocations"), { method: "POST", body });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const result = answer.parse(JSON.parse(text));
    expect(result.statusCode).toBe(status);
    expect(result.headers["x-correlator"]).toMatch(/./);
    expect(event).toMatchObject({ requestContext: { requestId: result.headers["x-request-id"] } });
    if (status >= 400) {
      const { status: answered, code } = errorBody.parse(JSON.parse(result.body));
      expect(answered).toBe(status);
      expect(outcome === outcomeOf(code as Code) || outcome.startsWith(`${outcomeOf(code as Code)}-`)).toBe(
        true,
      );
    }
  });

  test.each([...endpoints] as Endpoint[])(
    "$id has an event for every code its function can answer with",
    (endpoint) => {
      const own = events.filter(({ path }) => path.startsWith(`events/${endpoint.id}.`));
      const wanted = [...endpoint.errors, ...failuresWithEvents].filter(
        (code) => !neverFromTheFunction[endpoint.id]?.includes(code),
      );
      const missing = wanted.filter(
        (code) =>
          !own.some(
            ({ status, outcome }) => status === errorRow(code).status && outcome.startsWith(outcomeOf(code)),
          ),
      );
      expect(missing).toEqual([]);
      expect(
        Object.keys(endpoint.responses).filter(
          (status) => !own.some((file) => file.status === Number(status)),
        ),
      ).toEqual([]);
    },
  );
});
