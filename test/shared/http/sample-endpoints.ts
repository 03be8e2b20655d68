import type { APIGatewayProxyResult } from "aws-lambda";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import * as z from "zod";
import { endpoint } from "../../../shared/endpoint.ts";
import { serve } from "../../../shared/http/serve.ts";
import { useTables } from "../../support/database.ts";
import { authorizerContext, captureOutput, eventOf, type Sent } from "../../support/pipeline.ts";

const word = z.object({
  word: z.string().optional(),
  number: z
    .number()
    .refine((value) => value < 10, { params: { code: "OUT_OF_RANGE" }, message: "must be less than 10" })
    .optional(),
  inner: z.object({ list: z.array(z.number()) }).optional(),
});
const common = { operationId: "say", summary: "Says", description: "Says.", method: "POST" } as const;

/** An operation that needs no token. */
export const open = endpoint({
  ...common,
  id: "test/open",
  path: "/open",
  aliases: [],
  scope: null,
  publicBecause: "It is a test.",
  body: word,
  responses: { 200: z.object({ said: z.string() }), 202: z.object({ later: z.boolean() }) },
  headers: { "x-kind": "test" },
  errors: ["INVALID_ARGUMENT", "NOT_FOUND", "TOO_MANY_REQUESTS", "UNAUTHENTICATED"],
});

/** The same for callers with a scope. */
export const guarded = endpoint({
  ...common,
  id: "test/guarded",
  path: "/guarded",
  aliases: [],
  scope: "qos-profiles:read",
  body: word,
  responses: { 200: z.object({ said: z.string() }) },
  errors: ["INVALID_ARGUMENT", "NOT_FOUND", "TOO_MANY_REQUESTS"],
});

const named = endpoint({
  ...common,
  id: "test/named",
  method: "GET",
  path: "/named/{name}",
  aliases: [],
  scope: null,
  publicBecause: "It is a test.",
  parameters: { name: z.string().min(1).max(20) },
  responses: { 200: z.object({ name: z.string() }) },
  errors: ["INVALID_ARGUMENT"],
});

const listed = endpoint({
  ...common,
  id: "test/listed",
  method: "GET",
  path: "/listed",
  aliases: ["/v1/listed"],
  scope: null,
  publicBecause: "It is a test.",
  query: {
    state: z.optional(z.enum(["old", "new"])),
    count: z._default(z.string().regex(/^[0-9]$/, "must be a digit"), "5"),
  },
  responses: { 200: z.object({ state: z.string(), count: z.string() }) },
  replyHeaders: { 200: { location: "Where it is." } },
  errors: ["INVALID_ARGUMENT"],
});

const plenty = { getRemainingTimeInMillis: () => 10_000 };

export type Handle<E extends typeof open | typeof guarded> = Parameters<typeof serve<E>>[1];

export const answerOpen: Handle<typeof open> = async ({ body, reply }) =>
  reply(200, { said: body.word ?? "nothing" });
export const answerGuarded: Handle<typeof guarded> = async ({ reply }) => reply(200, { said: "yes" });

export const askOpen = (sent: Sent = {}, handle = answerOpen) =>
  serve(open, handle)(eventOf({ body: "{}", ...sent }), plenty);
export const askGuarded = (sent: Sent = {}, handle = answerGuarded) =>
  serve(guarded, handle)(eventOf({ body: "{}", authorizer: authorizerContext(), ...sent }), plenty);
export const askNamed = (pathParameters: Readonly<Record<string, string>> | null) =>
  serve(named, async ({ parameters, reply }) => reply(200, { name: parameters.name }))(
    eventOf({ pathParameters }),
    plenty,
  );

export const askListed = (queryStringParameters: Sent["queryStringParameters"], resource?: string) =>
  serve(listed, async ({ query: { state = "any", count }, path, reply }) =>
    reply(200, { state, count }, { location: path }),
  )({ ...eventOf({ queryStringParameters: queryStringParameters ?? null }), resource }, plenty);

const errorBody = z.strictObject({ status: z.number(), code: z.string(), message: z.string().min(1) });

/** The code of an error, after a look at everything that all errors have in common. */
export function codeOf({ statusCode, headers, body }: APIGatewayProxyResult): string {
  const error = errorBody.parse(JSON.parse(body));
  expect(error.status).toBe(statusCode);
  expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  expect(headers?.["x-correlator"]).toMatch(/^[a-zA-Z0-9\-_:;./<>{}]{1,256}$/);
  return error.code;
}

export const messageOf = ({ body }: APIGatewayProxyResult) => errorBody.parse(JSON.parse(body)).message;

/**
 * Serves the requests of a file with the tables of the local service and limits that no request reaches.
 * @returns what the current test has written to its outputs.
 */
export function useServe(): () => string {
  let output: ReturnType<typeof captureOutput>;
  beforeAll(() => {
    useTables();
  });
  beforeEach(() => {
    vi.stubEnv("RATE_LIMIT_PER_MINUTE", "1000");
    vi.stubEnv("DAILY_QUOTA", "100000");
    output = captureOutput();
  });
  afterEach(() => {
    output.stop();
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });
  return () => output.text();
}

/** The lines of a log, each an object. */
export function linesOf(log: string): Record<string, unknown>[] {
  return log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
}
