import { describe, expect, test, vi } from "vitest";
import { type Code, errors } from "../../../shared/errors.ts";
import { authorizerContext, type Sent } from "../../support/pipeline.ts";
import {
  answerGuarded,
  askGuarded,
  askListed,
  askNamed,
  askOpen,
  codeOf,
  type guarded,
  type Handle,
  messageOf,
  useServe,
} from "./sample-endpoints.ts";

useServe();

describe("query parameters", () => {
  test("an endpoint parses query parameters by their schemas and ignores others", async () => {
    expect((await askListed(null)).body).toBe('{"state":"any","count":"5"}');
    const { body } = await askListed({ state: "old", count: "7", other: "x" });
    expect(body).toBe('{"state":"old","count":"7"}');
  });

  test.each([{ state: "none" }, { state: "" }, { count: "12" }])(
    "an endpoint refuses the invalid query %j and names the parameter",
    async (query) => {
      const result = await askListed(query);
      expect(codeOf(result)).toBe("INVALID_ARGUMENT");
      expect(messageOf(result)).toBe(
        query.count === undefined ? "state must be one of old, new." : "count must be a digit.",
      );
    },
  );
});

describe("a path parameter", () => {
  test("an endpoint percent-decodes a path parameter once", async () => {
    const nameOf = async (name: string) => JSON.parse((await askNamed({ name })).body);

    expect(await nameOf("QOS%5FE")).toEqual({ name: "QOS_E" });
    expect(await nameOf("a%2Fb%20c")).toEqual({ name: "a/b c" });
    expect(await nameOf("%2541")).toEqual({ name: "%41" });
    expect(await nameOf("caf%C3%A9")).toEqual({ name: "café" });
    expect(await nameOf("a+b")).toEqual({ name: "a+b" });
  });

  test.each(["%", "%4", "%zz", "%ff", "%C3", "a%E0%A4b", "%ED%A0%80"])(
    "an endpoint responds 400 to the path parameter %s, which cannot be decoded",
    async (name) => {
      const result = await askNamed({ name });
      expect(codeOf(result)).toBe("INVALID_ARGUMENT");
      expect(messageOf(result)).toBe("name must be percent-encoded UTF-8.");
    },
  );

  test("an endpoint responds 400 to a path parameter that is missing or does not fit its schema", async () => {
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
  test.each(refused)("an endpoint refuses the body %s as %s", async (body, code, message) => {
    const result = await askOpen({ body });
    expect(codeOf(result)).toBe(code);
    expect(messageOf(result)).toBe(message);
  });

  test("an endpoint ignores unknown members, __proto__ and constructor included", async () => {
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
});

describe("the request of a handler", () => {
  test("an endpoint hands the handler the parsed caller, body, source address and time", async () => {
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

  test("an endpoint hands no caller to an endpoint without a scope, for any context of the authorizer", async () => {
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
    "an endpoint checks %s before everything that is specified to come later",
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

  test("an endpoint responds QUOTA_EXCEEDED over the quota even when the handler crashes", async () => {
    vi.stubEnv("DAILY_QUOTA", "0");
    const result = await askGuarded({}, async () => {
      throw new Error("crash");
    });
    expect(codeOf(result)).toBe("QUOTA_EXCEEDED");
  });
});

test.each(["0", "1"])(
  "an endpoint answers 429 to a client whom its handler authenticates, over %s requests a minute",
  async (limit) => {
    vi.stubEnv("RATE_LIMIT_PER_MINUTE", limit);
    const client = crypto.randomUUID();
    const ask = () =>
      askOpen({}, async ({ countFor, reply }) => {
        await countFor(client);
        return reply(200, { said: "yes" });
      });
    for (let request = 0; request < Number(limit); request++) expect((await ask()).statusCode).toBe(200);

    for (const over of [await ask(), await ask()]) expect(codeOf(over)).toBe("TOO_MANY_REQUESTS");
  },
);

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
    "a token that expired five seconds ago": authorizerContext({
      expires: String(Math.floor(Date.now() / 1_000) - 5),
    }),
  };
  test.each(Object.entries(contexts))(
    "an endpoint responds 401 without calling the handler for %s",
    async (_, authorizer) => {
      const handle = vi.fn(answerGuarded);

      const result = await askGuarded({ authorizer }, handle);

      expect(codeOf(result)).toBe("UNAUTHENTICATED");
      expect(messageOf(result)).toBe(errors.UNAUTHENTICATED.message);
      expect(result.headers?.["www-authenticate"]).toBe("Bearer");
      expect(handle).not.toHaveBeenCalled();
    },
  );

  test("an endpoint counts every request of a caller once, invalid ones included", async () => {
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
});
