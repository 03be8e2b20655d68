import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { serve } from "../../../shared/http/serve.ts";
import { authorizerContext, eventOf, type Sent } from "../../support/pipeline.ts";
import { askGuarded, askOpen, guarded, type Handle, linesOf, open, useServe } from "./sample-endpoints.ts";

const written = useServe();

describe("metrics", () => {
  const counted = () =>
    linesOf(written())
      .filter((line) => "_aws" in line)
      .map((line) =>
        Object.fromEntries(
          Object.entries(line).filter(
            ([name]) => name === "operation" || name === "code" || /^[A-Z]/.test(name),
          ),
        ),
      );
  const RequestMilliseconds = expect.any(Number);

  test("an endpoint logs the request, its error and what the handler measured as metrics", async () => {
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

  test("an endpoint counts a request that timed out once and ignores what the handler measures later", async () => {
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

  test("an endpoint responds 200 when the log cannot be written", async () => {
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
  const lines = () => linesOf(written());

  const itself: Record<string, unknown> = { phone };
  itself.itself = itself;

  test.each([
    ["an error with a cause", new Error(`no device ${phone}`, { cause: new Error(phone) })],
    ["an error with a request", Object.assign(new Error(phone), { request: { token, phone } })],
    ["a text", phone],
    ["an object that has itself as a member", itself],
    ["an error of a schema", z.object({ word: z.number() }).safeParse({ word: phone }).error],
  ])("an endpoint logs nothing of what was sent when a handler throws %s", async (_, error) => {
    const sent: Sent = {
      headers: { authorization: `Bearer ${token}` },
      pathParameters: { name: phone },
      authorizer: authorizerContext({ client: `client-${phone}`, subscription: `sub-${phone}` }),
      body: JSON.stringify({ word: phone, unknown: token }),
    };
    await askGuarded(sent, async () => {
      throw error;
    });

    expect(lines().filter(({ id }) => id === "NCS-002")).toHaveLength(1);
    for (const word of ["34600000077", token, "192.0.2.1"]) expect(written()).not.toContain(word);
  });

  test("an endpoint logs the invocation's id and how long the request waited for each service", async () => {
    await serve(guarded, async ({ reply }) => reply(200, { said: "hello" }))(
      eventOf({ body: JSON.stringify({ word: "hello" }), authorizer: authorizerContext() }),
      { awsRequestId: "1b2c", getRemainingTimeInMillis: () => 10_000 },
    );

    const [line] = lines();
    expect(line).toMatchObject({ awsRequestId: "1b2c", dynamodbMilliseconds: expect.any(Number) });
    expect(line).not.toHaveProperty("sqsMilliseconds");
  });
});
