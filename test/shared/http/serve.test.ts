import type { APIGatewayProxyResult } from "aws-lambda";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { endpoint } from "../../../shared/endpoint.ts";
import { ApiError, type Code, errorRow, errors, Unavailable } from "../../../shared/errors.ts";
import { serve } from "../../../shared/http/serve.ts";
import { anyText } from "../../support/any-text.ts";
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
const open = endpoint({
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
const guarded = endpoint({
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

type Handle<E extends typeof open | typeof guarded> = Parameters<typeof serve<E>>[1];

const answerOpen: Handle<typeof open> = async ({ body, reply }) =>
  reply(200, { said: body.word ?? "nothing" });
const answerGuarded: Handle<typeof guarded> = async ({ reply }) => reply(200, { said: "yes" });

const askOpen = (sent: Sent = {}, handle = answerOpen) =>
  serve(open, handle)(eventOf({ body: "{}", ...sent }), plenty);
const askGuarded = (sent: Sent = {}, handle = answerGuarded) =>
  serve(guarded, handle)(eventOf({ body: "{}", authorizer: authorizerContext(), ...sent }), plenty);
const askNamed = (pathParameters: Readonly<Record<string, string>> | null) =>
  serve(named, async ({ parameters, reply }) => reply(200, { name: parameters.name }))(
    eventOf({ pathParameters }),
    plenty,
  );

const askListed = (queryStringParameters: Sent["queryStringParameters"], resource?: string) =>
  serve(listed, async ({ query: { state = "any", count }, path, reply }) =>
    reply(200, { state, count }, { location: path }),
  )({ ...eventOf({ queryStringParameters: queryStringParameters ?? null }), resource }, plenty);

const errorBody = z.strictObject({ status: z.number(), code: z.string(), message: z.string().min(1) });

/** The code of an error, after a look at everything that all errors have in common. */
function codeOf({ statusCode, headers, body }: APIGatewayProxyResult): string {
  const error = errorBody.parse(JSON.parse(body));
  expect(error.status).toBe(statusCode);
  expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  expect(headers?.["x-correlator"]).toMatch(/^[a-zA-Z0-9\-_:;./<>{}]{1,256}$/);
  return error.code;
}

const messageOf = ({ body }: APIGatewayProxyResult) => errorBody.parse(JSON.parse(body)).message;

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

describe("query parameters", () => {
  test("serve parses query parameters by their schemas and ignores others", async () => {
    expect((await askListed(null)).body).toBe('{"state":"any","count":"5"}');
    const { body } = await askListed({ state: "old", count: "7", other: "x" });
    expect(body).toBe('{"state":"old","count":"7"}');
  });

  test.each([{ state: "none" }, { state: "" }, { count: "12" }])(
    "serve refuses the invalid query %j and names the parameter",
    async (query) => {
      const result = await askListed(query);
      expect(codeOf(result)).toBe("INVALID_ARGUMENT");
      expect(messageOf(result)).toBe(
        query.count === undefined ? "state must be one of old, new." : "count must be a digit.",
      );
    },
  );
});

describe("the response", () => {
  test("serve responds with the declared headers, a correlator and a content type", async () => {
    const { statusCode, headers, body } = await askOpen({ body: '{"word":"hello"}' });

    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toEqual({ said: "hello" });
    expect(headers).toMatchObject({ "content-type": "application/json", "x-kind": "test" });
    expect(headers?.["x-correlator"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("serve adds the headers of the reply and tells the handler the path that was called", async () => {
    expect((await askListed(null, "/v1/listed")).headers).toMatchObject({ location: "/v1/listed" });
    expect((await askListed(null)).headers).toMatchObject({ location: "/listed" });
  });

  test("serve drops members of the body that the response schema does not name", async () => {
    const secret = { said: "yes", passwordHash: "$scrypt$", __proto__: { subscription: "sub-1" } };
    const { body } = await askOpen({}, async ({ reply }) => reply(200, secret));
    expect(body).toBe('{"said":"yes"}');
  });

  test("serve responds 500 without the value when the body does not fit the response schema", async () => {
    const wrong = { said: 34600000001 } as unknown as { said: string };
    const result = await askOpen({}, async ({ reply }) => reply(200, wrong));

    expect(codeOf(result)).toBe("INTERNAL");
    expect(messageOf(result)).toBe(errors.INTERNAL.message);
    expect(result.body).not.toContain("34600000001");
  });

  test("serve applies the schema of the status that the handler replies with", async () => {
    const { statusCode, body } = await askOpen({}, async ({ reply }) => reply(202, { later: true }));
    expect(statusCode).toBe(202);
    expect(JSON.parse(body)).toEqual({ later: true });
  });

  test.each([201, 204, 404, 0])(
    "serve responds 500 when the handler replies with the undeclared status %d",
    async (status) => {
      const undeclared = status as 200;
      const result = await askOpen({}, async ({ reply }) => reply(undeclared, { said: "yes" }));
      expect(codeOf(result)).toBe("INTERNAL");
    },
  );
});

describe("the request of a handler", () => {
  test("serve hands the handler the parsed caller, body, source address and time", async () => {
    let seen: Parameters<Handle<typeof guarded>>[0] | undefined;
    const before = Date.now();
    const client = crypto.randomUUID();
    const authorizer = authorizerContext({ client, subscription: "sub-1" });
    await askGuarded({ authorizer, body: '{"word":"w","unknown":1}' }, async (request) => {
      seen = request;
      return request.reply(200, { said: "yes" });
    });

    expect(seen?.caller).toMatchObject({ client, scopes: ["qos-profiles:read"], subscription: "sub-1" });
    expect(seen?.body).toEqual({ word: "w" });
    expect(seen?.sourceIp).toBe("192.0.2.1");
    expect(seen?.now.getTime()).toBeGreaterThanOrEqual(before);
    expect(seen?.signal.aborted).toBe(false);
  });

  test("serve hands no caller to an endpoint without a scope, whatever the authorizer says", async () => {
    let seen: unknown = "never called";
    await askOpen({ authorizer: authorizerContext() }, async ({ caller, reply }) => {
      seen = caller;
      return reply(200, { said: "yes" });
    });
    expect(seen).toBeUndefined();
  });
});

describe("the order of checks", () => {
  const good: Sent & { readonly rate: string } = { rate: "1000", body: "{}" };
  const faults: readonly (readonly [
    name: string,
    fault: Partial<typeof good>,
    code: Code,
    message: string,
  ])[] = [
    ["a token", { authorizer: undefined }, "UNAUTHENTICATED", errors.UNAUTHENTICATED.message],
    [
      "its scope",
      { authorizer: authorizerContext({ scope: "number-recycling:check" }) },
      "PERMISSION_DENIED",
      "The access token lacks the scope qos-profiles:read.",
    ],
    ["the quota", { rate: "0" }, "TOO_MANY_REQUESTS", errors.TOO_MANY_REQUESTS.message],
    [
      "x-correlator",
      { headers: { "x-correlator": "not valid" } },
      "INVALID_ARGUMENT",
      "x-correlator must be at most 256 of the characters a-z A-Z 0-9 - _ : ; . / < > { }.",
    ],
    ["the body as JSON", { body: "{" }, "INVALID_ARGUMENT", "The body is not JSON: see line 1, column 2."],
    ["the body's schema", { body: '{"word":1}' }, "INVALID_ARGUMENT", "word must be a string."],
    ["the handler", {}, "NOT_FOUND", errors.NOT_FOUND.message],
  ];

  test.each(faults.map((fault, index) => [fault[0], index] as const))(
    "serve checks %s before everything that is specified to come later",
    async (_, index) => {
      const [, , code, message] = faults[index] ?? faults[0] ?? [];
      // The earlier fault of two in the same member is the one that is sent.
      const present = faults.slice(index).map(([, fault]) => fault);
      const sent = Object.assign({ ...good, authorizer: authorizerContext() }, ...present.reverse());
      vi.stubEnv("RATE_LIMIT_PER_MINUTE", sent.rate);

      const result = await askGuarded(sent, async ({ refuse }) => {
        throw refuse("NOT_FOUND");
      });

      expect(codeOf(result)).toBe(code);
      expect(messageOf(result)).toBe(message);
    },
  );

  test("serve responds QUOTA_EXCEEDED over the quota even when the handler crashes", async () => {
    vi.stubEnv("DAILY_QUOTA", "0");
    const result = await askGuarded({}, async () => {
      throw new Error("crash");
    });
    expect(codeOf(result)).toBe("QUOTA_EXCEEDED");
  });
});

describe("x-correlator", () => {
  const valid = fc.stringMatching(/^[a-zA-Z0-9\-_:;./<>{}]{1,256}$/);
  const isValid = (text: string) => /^[a-zA-Z0-9\-_:;./<>{}]{0,256}$/.test(text) && !text.includes("\n");

  test("serve echoes a valid x-correlator in answers and errors", async () => {
    await fc.assert(
      fc.asyncProperty(valid, fc.constantFrom("{}", "[]"), async (sent, body) => {
        const { headers } = await askOpen({ headers: { "x-correlator": sent }, body });
        expect(headers?.["x-correlator"]).toBe(sent);
      }),
    );
  });

  test("serve responds 400 to an invalid x-correlator and does not echo it", async () => {
    const invalid = fc.oneof(
      anyText({ minLength: 1, maxLength: 300 }).filter((text) => !isValid(text)),
      fc
        .tuple(valid, fc.constantFrom(" ", "\n", "\r\n", "é", "\0", "\u2028", "%", "\\", '"'))
        .map((two) => two.join("")),
      fc.stringMatching(/^[a-z]{257,300}$/),
    );
    await fc.assert(
      fc.asyncProperty(invalid, async (sent) => {
        const result = await askOpen({ headers: { "X-Correlator": sent } });

        expect(codeOf(result)).toBe("INVALID_ARGUMENT");
        expect(result.headers?.["x-correlator"]).toMatch(/^[0-9a-f-]{36}$/);
        expect(result.headers?.["x-correlator"]).not.toBe(sent);
      }),
      { numRuns: 60 },
    );
  });

  test.each([{}, { "x-correlator": "" }, null])(
    "serve makes a new x-correlator for each request with the headers %j",
    async (headers) => {
      const [first, second] = await Promise.all([askOpen({ headers }), askOpen({ headers })]);

      expect(first?.statusCode).toBe(200);
      expect(first?.headers?.["x-correlator"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(first?.headers?.["x-correlator"]).not.toBe(second?.headers?.["x-correlator"]);
    },
  );

  test.each(["x-correlator", "X-Correlator", "X-CORRELATOR", "x-CoRrElAtOr"])(
    "serve reads the correlator from a header named %s",
    async (name) => {
      const { headers } = await askOpen({ headers: { [name]: "c-1" } });
      expect(headers?.["x-correlator"]).toBe("c-1");
    },
  );
});

describe("the caller", () => {
  const contexts: Record<string, unknown> = {
    "no context": undefined,
    "an empty context": {},
    "a context that is null": null,
    "a context that is text": "client-1",
    "a context without a client": authorizerContext({ client: undefined }),
    "an empty client": authorizerContext({ client: "" }),
    "a client that is a number": authorizerContext({ client: 1 }),
    "no scope": authorizerContext({ scope: undefined }),
    "no end": authorizerContext({ expires: undefined }),
    "an end in words": authorizerContext({ expires: "tomorrow" }),
    "an empty end": authorizerContext({ expires: "" }),
    "an end that never comes": authorizerContext({ expires: "Infinity" }),
    "an empty subscription": authorizerContext({ subscription: "" }),
    "a token that has expired since": authorizerContext({
      expires: String(Math.floor(Date.now() / 1_000) - 60),
    }),
  };
  test.each(Object.entries(contexts))(
    "serve responds 401 without calling the handler for %s",
    async (_, authorizer) => {
      const handle = vi.fn(answerGuarded);

      const result = await askGuarded({ authorizer }, handle);

      expect(codeOf(result)).toBe("UNAUTHENTICATED");
      expect(messageOf(result)).toBe(errors.UNAUTHENTICATED.message);
      expect(result.headers?.["www-authenticate"]).toBe("Bearer");
      expect(handle).not.toHaveBeenCalled();
    },
  );

  test("serve counts every request of a caller once, invalid ones included", async () => {
    vi.stubEnv("DAILY_QUOTA", "2");
    const authorizer = authorizerContext();

    const results = [
      await askGuarded({ authorizer, body: "[]" }),
      await askGuarded({ authorizer }),
      await askGuarded({ authorizer }),
    ];

    expect(results.map(({ statusCode }) => statusCode)).toEqual([400, 200, 429]);
    expect(codeOf(results[2] ?? (await askOpen()))).toBe("QUOTA_EXCEEDED");
    expect(Number(results[2]?.headers?.["retry-after"])).toBeGreaterThan(0);
    expect(Number(results[2]?.headers?.["retry-after"])).toBeLessThanOrEqual(86_400);
  });

  test("serve responds 200 to a caller whose client id has 4,000 characters", async () => {
    expect(await askGuarded({ authorizer: authorizerContext({ client: "c".repeat(4_000) }) })).toMatchObject({
      statusCode: 200,
    });
  });
});

describe("a path parameter", () => {
  test("serve percent-decodes a path parameter once", async () => {
    const nameOf = async (name: string) => JSON.parse((await askNamed({ name })).body);

    expect(await nameOf("QOS%5FE")).toEqual({ name: "QOS_E" });
    expect(await nameOf("a%2Fb%20c")).toEqual({ name: "a/b c" });
    expect(await nameOf("%2541")).toEqual({ name: "%41" });
    expect(await nameOf("caf%C3%A9")).toEqual({ name: "café" });
    expect(await nameOf("a+b")).toEqual({ name: "a+b" });
  });

  test.each(["%", "%4", "%zz", "%ff", "%C3", "a%E0%A4b", "%ED%A0%80"])(
    "serve responds 400 to the path parameter %s, which cannot be decoded",
    async (name) => {
      const result = await askNamed({ name });
      expect(codeOf(result)).toBe("INVALID_ARGUMENT");
      expect(messageOf(result)).toBe("name must be percent-encoded UTF-8.");
    },
  );

  test("serve responds 400 to a path parameter that is missing or does not fit its schema", async () => {
    expect(codeOf(await askNamed({ name: "x".repeat(21) }))).toBe("INVALID_ARGUMENT");
    expect(codeOf(await askNamed({ other: "x" }))).toBe("INVALID_ARGUMENT");
    expect(codeOf(await askNamed({}))).toBe("INVALID_ARGUMENT");
    expect(codeOf(await askNamed(null))).toBe("INVALID_ARGUMENT");
  });
});

describe("a body that the schema refuses", () => {
  const refused: readonly (readonly [body: string, code: Code, message: string])[] = [
    ['{"word":1}', "INVALID_ARGUMENT", "word must be a string."],
    ['{"word":null}', "INVALID_ARGUMENT", "word must be a string."],
    ['{"inner":{}}', "INVALID_ARGUMENT", "inner.list is missing."],
    ['{"inner":{"list":[1,"2"]}}', "INVALID_ARGUMENT", "inner.list[1] must be a number."],
    ['{"number":10}', "OUT_OF_RANGE", "number must be less than 10."],
    ['{"number":"10"}', "INVALID_ARGUMENT", "number must be a number."],
    ['{"number":10,"word":1}', "INVALID_ARGUMENT", "word must be a string. number must be less than 10."],
  ];
  test.each(refused)("serve refuses the body %s as %s", async (body, code, message) => {
    const result = await askOpen({ body });
    expect(codeOf(result)).toBe(code);
    expect(messageOf(result)).toBe(message);
  });

  test("serve ignores unknown members, __proto__ and constructor included", async () => {
    const body =
      '{"word":"w","__proto__":{"number":99},"constructor":{"prototype":{"polluted":1}},"toString":1}';
    let seen: object | undefined;

    const { statusCode } = await askOpen({ body }, async (request) => {
      seen = request.body;
      return request.reply(200, { said: "yes" });
    });

    expect(statusCode).toBe(200);
    expect(seen).toEqual({ word: "w" });
    expect(seen).not.toHaveProperty("number");
    expect({}).not.toHaveProperty("polluted");
  });

  test("serve does not read members from a __proto__ in the body", async () => {
    const { body } = await askOpen({ body: '{"__proto__":{"word":"inherited"}}' });
    expect(JSON.parse(body)).toEqual({ said: "nothing" });
  });
});

describe("faults", () => {
  const secret = "subscriber +34600000001 of sub-1";
  const thrown: Record<string, unknown> = {
    "an error": new Error(secret),
    "an error of another kind": new TypeError(secret),
    "an error with a cause": new Error(secret, { cause: new Error(secret) }),
    text: secret,
    nothing: undefined,
    null: null,
    "an object": { status: 404, code: secret, message: secret },
    "an imitation of a refusal": Object.assign(new Error(secret), { name: "ApiError", code: "NOT_FOUND" }),
  };
  test.each(Object.entries(thrown))(
    "serve responds 500 with the catalogue's message when a handler throws %s",
    async (_, error) => {
      const result = await askOpen({}, async () => {
        throw error;
      });

      expect(codeOf(result)).toBe("INTERNAL");
      expect(messageOf(result)).toBe(errors.INTERNAL.message);
      expect(JSON.stringify(result)).not.toContain("34600000001");
    },
  );

  test("serve responds 500 when a handler throws synchronously", async () => {
    const result = await askOpen({}, () => {
      throw new Error(secret);
    });
    expect(codeOf(result)).toBe("INTERNAL");
  });

  test("serve responds 503 with Retry-After when a dependency does not answer", async () => {
    const result = await askOpen({}, async () => {
      throw new Unavailable("DynamoDB", "TimeoutError");
    });

    expect(codeOf(result)).toBe("UNAVAILABLE");
    expect(messageOf(result)).toBe(errors.UNAVAILABLE.message);
    expect(Number(result.headers?.["retry-after"])).toBeGreaterThan(0);
  });

  test("serve responds with the status, message and headers of the catalogue for every code", async () => {
    for (const code of Object.keys(errors) as Code[]) {
      const result = await askOpen({}, async () => {
        throw new ApiError(code);
      });

      expect(codeOf(result)).toBe(code);
      expect(result.statusCode).toBe(errorRow(code).status);
      expect(messageOf(result)).toBe(errorRow(code).message);
      expect(result.headers?.["www-authenticate"]).toBe(result.statusCode === 401 ? "Bearer" : undefined);
      const wait = errorRow(code).retryAfterSeconds;
      expect(result.headers?.["retry-after"]).toBe(wait === undefined ? undefined : String(wait));
      expect(result.headers).not.toHaveProperty("x-kind");
    }
  });

  test("serve prefers the message and Retry-After of refuse to those of the catalogue", async () => {
    const result = await askOpen({}, async ({ refuse }) => {
      throw refuse("TOO_MANY_REQUESTS", { message: "Wait.", retryAfterSeconds: 77 });
    });
    expect(messageOf(result)).toBe("Wait.");
    expect(result.headers?.["retry-after"]).toBe("77");
  });
});

describe("the deadline", () => {
  test("serve responds 504 before the function's time is up and aborts the signal", async () => {
    let signal: AbortSignal | undefined;
    const started = performance.now();
    const hanging: Handle<typeof open> = (request) => {
      signal = request.signal;
      return new Promise(() => {});
    };

    const result = await serve(open, hanging)(eventOf({ body: "{}" }), {
      getRemainingTimeInMillis: () => 600,
    });

    expect(performance.now() - started).toBeLessThan(3_000);
    expect(codeOf(result)).toBe("TIMEOUT");
    expect(result.statusCode).toBe(504);
    expect(messageOf(result)).toBe(errors.TIMEOUT.message);
    expect(signal?.aborted).toBe(true);
  });

  test("serve responds 504 even if the aborted handler throws another error", async () => {
    const obedient: Handle<typeof open> = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Unavailable("DynamoDB", "AbortError")));
      });

    const result = await serve(open, obedient)(eventOf({ body: "{}" }), {
      getRemainingTimeInMillis: () => 300,
    });

    expect(codeOf(result)).toBe("TIMEOUT");
  });

  test("serve responds 504 after five seconds, however much time the function has", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.stubEnv("DEADLINE_FACTOR", "1");
    try {
      let result: APIGatewayProxyResult | undefined;
      const invocation = { getRemainingTimeInMillis: () => 900_000 };
      const answering = serve(open, () => new Promise(() => {}))(eventOf({ body: "{}" }), invocation).then(
        (answered) => {
          result = answered;
        },
      );

      await vi.advanceTimersByTimeAsync(4_999);
      expect(result).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      await answering;
      expect(result?.statusCode).toBe(504);
    } finally {
      vi.unstubAllEnvs();
      vi.useRealTimers();
    }
  });

  test("serve stops its timer and never aborts the signal once it has responded", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let signal: AbortSignal | undefined;
      await askOpen({}, async (request) => {
        signal = request.signal;
        return request.reply(200, { said: "yes" });
      });

      expect(vi.getTimerCount()).toBe(0);
      expect(signal?.aborted).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("onFault", () => {
  /** What was undone while a handler that ends in some way was served. */
  async function undoneBy(end: Handle<typeof open>, milliseconds = 10_000) {
    const undone: boolean[] = [];
    const output = captureOutput();
    const result = await serve(open, async (request) => {
      request.onFault(async (signal) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        undone.push(signal.aborted);
      });
      return await end(request);
    })(eventOf({ body: "{}" }), { getRemainingTimeInMillis: () => milliseconds }).finally(output.stop);
    return { status: result.statusCode, undone };
  }

  test.each([
    [500, () => Promise.reject(new TypeError("broken"))],
    [503, () => Promise.reject(new Unavailable("DynamoDB", "TimeoutError"))],
    [504, () => new Promise<never>(() => {})],
  ])("serve runs the rollback before it responds %i, with a time-out of its own", async (status, end) => {
    expect(await undoneBy(end, 600)).toEqual({ status, undone: [false] });
  });

  test("serve runs no rollback when it responds 200 or 404", async () => {
    expect(await undoneBy(answerOpen)).toEqual({ status: 200, undone: [] });
    expect(await undoneBy(async ({ refuse }) => Promise.reject(refuse("NOT_FOUND")))).toEqual({
      status: 404,
      undone: [],
    });
  });

  test("serve responds 503 and logs NCS-005 when the rollback hangs", async () => {
    const output = captureOutput();
    const started = performance.now();
    const result = await askOpen({}, async ({ onFault }) => {
      onFault(
        (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      );
      throw new Unavailable("DynamoDB", "TimeoutError");
    }).finally(output.stop);

    expect(result.statusCode).toBe(503);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(output.text()).toContain('"NCS-005"');
  });
});

describe("privacy of errors", () => {
  /** A word that occurs nowhere by chance. */
  const marker = fc.stringMatching(/^[q-z]{12}$/);
  const place = fc.constantFrom(
    (text: string): Sent => ({ body: JSON.stringify({ word: [text] }) }),
    (text: string): Sent => ({ body: JSON.stringify({ [text]: text, word: 1 }) }),
    (text: string): Sent => ({ body: JSON.stringify({ inner: { [text]: text, list: [text] } }) }),
    (text: string): Sent => ({ body: JSON.stringify({ number: 11, [text]: text }) }),
    (text: string): Sent => ({ body: text }),
    (text: string): Sent => ({ body: `{"${text}"` }),
    (text: string): Sent => ({ body: JSON.stringify([text]) }),
    (text: string): Sent => ({ headers: { "x-correlator": `${text} ` }, body: "{}" }),
    (text: string): Sent => ({ headers: { authorization: text, [text]: text }, body: "[]" }),
    (text: string): Sent => ({ pathParameters: { name: text }, body: "[]" }),
  );

  test("serve repeats nothing of the body, the headers or the path in an error", async () => {
    await fc.assert(
      fc.asyncProperty(marker, place, async (text, put) => {
        const result = await askOpen(put(text));

        expect(result.statusCode).toBe(400);
        expect(JSON.stringify(result)).not.toContain(text);
      }),
      { numRuns: 200 },
    );
  });

  test("serve repeats nothing of the path parameter in an error", async () => {
    await fc.assert(
      fc.asyncProperty(marker, async (text) => {
        const result = await askNamed({ name: `${text}${text}` });

        expect(result.statusCode).toBe(400);
        expect(JSON.stringify(result)).not.toContain(text);
      }),
    );
  });

  test("serve repeats nothing of the token in an error", async () => {
    await fc.assert(
      fc.asyncProperty(marker, async (text) => {
        const context = authorizerContext({
          client: text,
          subscription: text,
          scope: "number-recycling:check",
        });
        const result = await askGuarded({ authorizer: context });

        expect(codeOf(result)).toBe("PERMISSION_DENIED");
        expect(JSON.stringify(result)).not.toContain(text);
      }),
    );
  });
});

/** Everything that was written, each line an object. */
function written(): Record<string, unknown>[] {
  return output
    .text()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
}

describe("X-RateLimit headers", () => {
  const answering: Handle<typeof guarded> = async ({ reply }) => reply(200, { said: "yes" });
  const refusing: Handle<typeof guarded> = async ({ refuse }) => {
    throw refuse("NOT_FOUND");
  };
  const crashing: Handle<typeof guarded> = async () => {
    throw new Error("crash");
  };
  const limitHeaders = ({ headers }: APIGatewayProxyResult) => ({
    limit: headers?.["x-ratelimit-limit"],
    remaining: headers?.["x-ratelimit-remaining"],
    reset: headers?.["x-ratelimit-reset"],
  });
  const nothing = { limit: undefined, remaining: undefined, reset: undefined };

  test("serve reports the allowance with every counted response and with the 429", async () => {
    vi.stubEnv("DAILY_QUOTA", "2");
    const authorizer = authorizerContext();

    const first = await askGuarded({ authorizer });
    const second = await askGuarded({ authorizer });
    const refused = await askGuarded({ authorizer });

    expect(limitHeaders(first)).toMatchObject({ limit: "2", remaining: "1" });
    expect(limitHeaders(second)).toMatchObject({ limit: "2", remaining: "0" });
    expect(codeOf(refused)).toBe("QUOTA_EXCEEDED");
    expect(limitHeaders(refused)).toMatchObject({ limit: "2", remaining: "0" });
    expect(limitHeaders(refused).reset).toBe(refused.headers?.["retry-after"]);
    const secondsOfDay = 86_400;
    for (const { reset } of [first, second, refused].map(limitHeaders)) {
      expect(Number(reset)).toBeGreaterThan(0);
      expect(Number(reset)).toBeLessThanOrEqual(secondsOfDay);
    }
  });

  test.each<[string, Sent, Handle<typeof guarded>]>([
    ["a request that is invalid", { body: "[]" }, answering],
    ["the refusal of a handler", {}, refusing],
    ["a fault", {}, crashing],
  ])("serve reports the allowance with %s", async (_, sent, handle) => {
    vi.stubEnv("DAILY_QUOTA", "5");
    const result = await askGuarded(sent, handle);
    expect(result.statusCode).toBeGreaterThanOrEqual(400);
    expect(limitHeaders(result)).toMatchObject({ limit: "5", remaining: "4" });
  });

  test("serve reports no allowance with a 429 of a limit without a window", async () => {
    const result = await askGuarded({}, async ({ quotaChecked, refuse }) => {
      await quotaChecked;
      throw refuse("TOO_MANY_REQUESTS");
    });
    expect(result.statusCode).toBe(429);
    expect(limitHeaders(result)).toEqual(nothing);
  });

  test("serve reports no allowance when nothing is counted", async () => {
    expect(limitHeaders(await askOpen())).toEqual(nothing);
    expect(limitHeaders(await askGuarded({ authorizer: undefined }))).toEqual(nothing);
  });

  test("serve reports the allowance that refuse is given", async () => {
    const result = await askOpen({}, async ({ refuse }) => {
      throw refuse("TOO_MANY_REQUESTS", { allowance: { limit: 20, remaining: 0, resetSeconds: 77 } });
    });
    expect(limitHeaders(result)).toEqual({ limit: "20", remaining: "0", reset: "77" });
  });
});

describe("metrics", () => {
  const counted = () =>
    written()
      .filter((line) => "_aws" in line)
      .map((line) =>
        Object.fromEntries(
          Object.entries(line).filter(
            ([name]) => name === "operation" || name === "code" || /^[A-Z]/.test(name),
          ),
        ),
      );
  const RequestMilliseconds = expect.any(Number);

  test("serve logs the request, its error and what the handler measured as metrics", async () => {
    await askGuarded();
    await askGuarded({ body: "[]" });
    await askOpen({}, async ({ measure, refuse }) => {
      measure({ metric: "LoginFailures" });
      throw refuse("UNAUTHENTICATED");
    });

    expect(counted()).toEqual([
      { operation: "say", Requests: 1, RequestMilliseconds },
      { operation: "say", Requests: 1, RequestMilliseconds, code: "INVALID_ARGUMENT", Errors: 1 },
      {
        operation: "say",
        Requests: 1,
        RequestMilliseconds,
        code: "UNAUTHENTICATED",
        Errors: 1,
        LoginFailures: 1,
      },
    ]);
  });

  test("serve counts a request that timed out once and ignores what the handler measures later", async () => {
    const late: Handle<typeof open> = ({ measure, signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () =>
          setTimeout(() => {
            measure({ metric: "LoginFailures" });
            reject(new Error("late"));
          }),
        );
      });
    await serve(open, late)(eventOf({ body: "{}" }), { getRemainingTimeInMillis: () => 300 });
    await new Promise((resolve) => setTimeout(resolve, 50));

    expect(counted()).toEqual([
      { operation: "say", Requests: 1, RequestMilliseconds, code: "TIMEOUT", Errors: 1 },
    ]);
  });

  test("serve responds 200 when the log cannot be written", async () => {
    const write = vi.spyOn(process.stdout, "write").mockImplementation(() => {
      throw new Error("EPIPE");
    });
    expect(await askGuarded()).toMatchObject({ statusCode: 200 });
    expect(write).toHaveBeenCalled();
  });
});

describe("log", () => {
  const phone = "+34600000077";
  const token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
  const fields = [
    "caller",
    "cause",
    "code",
    "coldStart",
    "correlator",
    "id",
    "level",
    "message",
    "milliseconds",
    "operation",
    "sampling_rate",
    "service",
    "status",
    "timestamp",
    "xray_trace_id",
    ...["_aws", "awsRequestId", "dynamodbMilliseconds"],
    ...["Errors", "QuotaNotCounted", "RequestMilliseconds", "Requests"],
  ];

  const lines = () => written();

  test("serve logs one line for each request with its operation, status and a hash of the caller", async () => {
    const client = crypto.randomUUID();
    await askGuarded({ authorizer: authorizerContext({ client }), headers: { "x-correlator": "c-9" } });
    await askGuarded({
      authorizer: authorizerContext({ client }),
      headers: { "x-correlator": "c-9" },
      body: "[]",
    });

    const [answered, refused, ...more] = lines();
    expect(more).toEqual([]);
    expect(answered).toMatchObject({ id: "NCS-001", operation: "say", status: 200, correlator: "c-9" });
    expect(refused).toMatchObject({ id: "NCS-001", status: 400, code: "INVALID_ARGUMENT" });
    expect(answered?.caller).toBe(refused?.caller);
    expect(output.text()).not.toContain(client);
  });

  test("serve logs no body, token, number, address or client, whatever becomes of a request", async () => {
    const sent: Sent = {
      headers: { authorization: `Bearer ${token}`, "x-correlator": `bad ${phone}` },
      pathParameters: { name: phone },
      authorizer: authorizerContext({ client: `client-${phone}`, subscription: `sub-${phone}` }),
      body: JSON.stringify({ word: phone, emailaddress: "ada@example.com", unknown: token }),
    };
    const fine = { ...sent, headers: { authorization: `Bearer ${token}` } };
    const throwing = (error: unknown) => async () => {
      throw error;
    };
    const itself: Record<string, unknown> = { phone };
    itself.itself = itself;

    await askGuarded(sent);
    await askGuarded(fine);
    await askGuarded({ ...fine, body: `{"word": ${phone}` });
    await askGuarded({ ...fine, authorizer: { client: phone } });
    await askGuarded(fine, throwing(new Error(`no device ${phone}`, { cause: new Error(phone) })));
    await askGuarded(fine, throwing(Object.assign(new Error(phone), { request: { token, phone } })));
    await askGuarded(fine, throwing(phone));
    await askGuarded(fine, throwing(itself));
    await askGuarded(fine, throwing(z.object({ word: z.number() }).safeParse({ word: phone }).error));
    await askGuarded(fine, async ({ reply }) => reply(200, { said: [phone] } as unknown as { said: string }));
    vi.stubEnv("DAILY_QUOTA", "0");
    await askGuarded(fine);

    expect(lines().filter(({ id }) => id === "NCS-001")).toHaveLength(11);
    expect(lines().filter(({ id }) => id === "NCS-002")).toHaveLength(6);
    for (const word of ["34600000077", token, "example.com", "192.0.2.1"])
      expect(output.text()).not.toContain(word);
    expect([...new Set(lines().flatMap(Object.keys))].filter((field) => !fields.includes(field))).toEqual([]);
  });

  test("serve logs the class and stack of a crash without its message, however many lines it has", async () => {
    await askOpen({}, async () => {
      throw new RangeError(`first line\n    at ${phone} (second line)\n    at ${token}`);
    });

    const crash = lines().find(({ id }) => id === "NCS-002");
    expect(crash?.cause).toContain("RangeError");
    expect(crash?.cause).toContain("serve.test.ts");
    expect(output.text()).not.toContain("34600000077");
    expect(output.text()).not.toContain(token);
  });

  test("serve logs the invocation's id and how long the request waited for each service", async () => {
    await serve(guarded, async ({ reply }) => reply(200, { said: "hello" }))(
      eventOf({ body: JSON.stringify({ word: "hello" }), authorizer: authorizerContext() }),
      { awsRequestId: "1b2c", getRemainingTimeInMillis: () => 10_000 },
    );

    const [line] = lines();
    expect(line).toMatchObject({ awsRequestId: "1b2c", dynamodbMilliseconds: expect.any(Number) });
    expect(line).not.toHaveProperty("sqsMilliseconds");
  });

  test("serve does not log a refused correlator", async () => {
    await askOpen({ headers: { "x-correlator": "not valid" } });

    expect(output.text()).not.toContain("not valid");
    expect(lines()[0]?.correlator).toMatch(/^[0-9a-f-]{36}$/);
  });
});
