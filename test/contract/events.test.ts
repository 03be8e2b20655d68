import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { APIGatewayProxyEventSchema } from "@aws-lambda-powertools/parser/schemas/api-gateway";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, failures } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { logicalIdOf } from "../../tools/assembly.ts";
import { readEventFile } from "../../tools/event-files.ts";
import { apiResult } from "../../tools/local/api-result.ts";
import { type LocalService, startLocalService } from "../../tools/local/service.ts";
import { busyMachine } from "../support/busy-machine.ts";
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
const hasEnvironment = (file: string) => existsSync(file.replace(/\.json$/, ".env.json"));
// Each environment of its own is one more thread to be started.
const replayed = [
  ...files.filter((file) => !hasEnvironment(file)),
  ...sampleOf(files.filter(hasEnvironment), 13),
];

describe("events", () => {
  let service: LocalService;

  beforeAll(async () => {
    // On the tables of the service that all tests share: the demo data is in them.
    service = await startLocalService({
      assembly: inject("assembly"),
      environment: { AWS_ENDPOINT_URL_DYNAMODB: inject("databaseEndpoint") },
      configuration: [],
      extraEnvironment: busyMachine,
      port: 0,
      logs: { write: () => true },
    });
  });
  afterAll(() => service.close());

  test.each(files)("%s is an event of API Gateway", async (path) => {
    const { event } = await readEventFile(path);
    expect(APIGatewayProxyEventSchema.safeParse(event).error).toBeUndefined();
  });

  test.each(replayed)("%s brings what its name says", async (path) => {
    const { functionId, status, outcome, event, environment } = await readEventFile(path);
    const logicalId = logicalIdOf(functionId, service.template);
    const result = answer.parse(
      await apiResult(service, logicalId, event, environment === undefined ? {} : { environment }),
    );
    expect(result.statusCode).toBe(status);
    expect(result.headers["x-correlator"]).toMatch(/./);
    expect(event).toMatchObject({ requestContext: { requestId: result.headers["x-request-id"] } });
    if (status >= 400) {
      const { status: told, code } = errorBody.parse(JSON.parse(result.body));
      expect(told).toBe(status);
      expect(outcome === outcomeOf(code as Code) || outcome.startsWith(`${outcomeOf(code as Code)}-`)).toBe(
        true,
      );
    }
  });

  test.each([...endpoints] as Endpoint[])(
    "$id has an event for every code its function can answer with",
    async (endpoint) => {
      const own = await Promise.all(
        files.filter((file) => file.startsWith(`events/${endpoint.id}.`)).map((file) => readEventFile(file)),
      );
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
