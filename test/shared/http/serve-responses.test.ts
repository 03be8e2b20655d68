import type { APIGatewayProxyResult } from "aws-lambda";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { errors } from "../../../shared/errors.ts";
import { anyText } from "../../support/any-text.ts";
import type { Sent } from "../../support/pipeline.ts";
import {
  askGuarded,
  askListed,
  askOpen,
  codeOf,
  type guarded,
  type Handle,
  messageOf,
  useServe,
} from "./sample-endpoints.ts";

useServe();

describe("the response", () => {
  test("an endpoint responds with the declared headers, a correlator and a content type", async () => {
    const { statusCode, headers, body } = await askOpen({ body: '{"word":"hello"}' });

    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toEqual({ said: "hello" });
    expect(headers).toMatchObject({ "content-type": "application/json", "x-kind": "test" });
    expect(headers?.["x-correlator"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("an endpoint adds the headers of the reply and tells the handler the path that was called", async () => {
    expect((await askListed(null, "/v1/listed")).headers).toMatchObject({ location: "/v1/listed" });
    expect((await askListed(null)).headers).toMatchObject({ location: "/listed" });
  });

  test("an endpoint drops members of the body that the response schema does not name", async () => {
    const secret = { said: "yes", passwordHash: "$scrypt$", __proto__: { subscription: "sub-1" } };
    const { body } = await askOpen({}, async ({ reply }) => reply(200, secret));
    expect(body).toBe('{"said":"yes"}');
  });

  test("an endpoint responds 500 without the value when the body does not fit the response schema", async () => {
    const wrong = { said: 34600000001 } as unknown as { said: string };
    const result = await askOpen({}, async ({ reply }) => reply(200, wrong));

    expect(codeOf(result)).toBe("INTERNAL");
    expect(messageOf(result)).toBe(errors.INTERNAL.message);
    expect(result.body).not.toContain("34600000001");
  });

  test("an endpoint applies the schema of the status that the handler replies with", async () => {
    const { statusCode, body } = await askOpen({}, async ({ reply }) => reply(202, { later: true }));
    expect(statusCode).toBe(202);
    expect(JSON.parse(body)).toEqual({ later: true });
  });

  test.each([201, 204, 404, 0])(
    "an endpoint responds 500 when the handler replies with the undeclared status %d",
    async (status) => {
      const undeclared = status as 200;
      const result = await askOpen({}, async ({ reply }) => reply(undeclared, { said: "yes" }));
      expect(codeOf(result)).toBe("INTERNAL");
    },
  );
});

describe("x-correlator", () => {
  const valid = fc.stringMatching(/^[a-zA-Z0-9\-_:;./<>{}]{1,256}$/);
  const isValid = (text: string) => /^[a-zA-Z0-9\-_:;./<>{}]{0,256}$/.test(text) && !text.includes("\n");

  test("an endpoint echoes a valid x-correlator in answers and errors", async () => {
    await fc.assert(
      fc.asyncProperty(valid, fc.constantFrom("{}", "[]"), async (sent, body) => {
        const { headers } = await askOpen({ headers: { "x-correlator": sent }, body });
        expect(headers?.["x-correlator"]).toBe(sent);
      }),
    );
  });

  test("an endpoint responds 400 to an invalid x-correlator and does not echo it", async () => {
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
});

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

  test.each<[string, Sent, Handle<typeof guarded>]>([
    ["a request that is invalid", { body: "[]" }, answering],
    ["the refusal of a handler", {}, refusing],
    ["a fault", {}, crashing],
  ])("an endpoint reports the allowance with %s", async (_, sent, handle) => {
    vi.stubEnv("DAILY_QUOTA", "5");
    const result = await askGuarded(sent, handle);
    expect(result.statusCode).toBeGreaterThanOrEqual(400);
    expect(limitHeaders(result)).toMatchObject({ limit: "5", remaining: "4" });
  });

  test("an endpoint reports no allowance with a 429 of a limit without a window", async () => {
    const result = await askGuarded({}, async ({ quotaChecked, refuse }) => {
      await quotaChecked;
      throw refuse("TOO_MANY_REQUESTS");
    });
    expect(result.statusCode).toBe(429);
    expect(limitHeaders(result)).toEqual(nothing);
  });

  test("an endpoint reports the allowance that refuse is given", async () => {
    const result = await askOpen({}, async ({ refuse }) => {
      throw refuse("TOO_MANY_REQUESTS", { allowance: { limit: 20, remaining: 0, resetSeconds: 77 } });
    });
    expect(limitHeaders(result)).toEqual({ limit: "20", remaining: "0", reset: "77" });
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

  test("an endpoint repeats nothing of the body, the headers or the path in an error", async () => {
    await fc.assert(
      fc.asyncProperty(marker, place, async (text, put) => {
        const result = await askOpen(put(text));

        expect(result.statusCode).toBe(400);
        expect(JSON.stringify(result)).not.toContain(text);
      }),
      { numRuns: 200 },
    );
  });
});
