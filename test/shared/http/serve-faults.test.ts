import type { APIGatewayProxyResult } from "aws-lambda";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ApiError, type Code, errorRow, errors, Unavailable } from "../../../shared/errors.ts";
import { serve } from "../../../shared/http/serve.ts";
import { captureOutput, eventOf } from "../../support/pipeline.ts";
import { answerOpen, askOpen, codeOf, type Handle, messageOf, open, useServe } from "./sample-endpoints.ts";

useServe();

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
    "an endpoint responds 500 with the catalogue's message when a handler throws %s",
    async (_, error) => {
      const result = await askOpen({}, async () => {
        throw error;
      });

      expect(codeOf(result)).toBe("INTERNAL");
      expect(messageOf(result)).toBe(errors.INTERNAL.message);
      expect(JSON.stringify(result)).not.toContain("34600000001");
    },
  );

  test("an endpoint responds with the status, message and headers of the catalogue for every code", async () => {
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
});

describe("the deadline", () => {
  test("an endpoint responds 504 before the function's time is up and aborts the signal", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const called = Promise.withResolvers<AbortSignal>();
    const hanging: Handle<typeof open> = (request) => {
      called.resolve(request.signal);
      return new Promise(() => {});
    };

    const answering = serve(open, hanging)(eventOf({ body: "{}" }), {
      getRemainingTimeInMillis: () => 600,
    });
    const signal = await called.promise;
    await vi.advanceTimersByTimeAsync(599);
    expect(signal.aborted).toBe(true);
    vi.useRealTimers();
    const result = await answering;

    expect(codeOf(result)).toBe("TIMEOUT");
    expect(result.statusCode).toBe(504);
    expect(messageOf(result)).toBe(errors.TIMEOUT.message);
  });

  test("an endpoint responds 504 even if the aborted handler throws another error", async () => {
    const obedient: Handle<typeof open> = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Unavailable("DynamoDB", "AbortError")));
      });

    const result = await serve(open, obedient)(eventOf({ body: "{}" }), {
      getRemainingTimeInMillis: () => 300,
    });

    expect(codeOf(result)).toBe("TIMEOUT");
  });

  test("an endpoint responds 504 after five seconds, however much time the function has", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.stubEnv("DEADLINE_FACTOR", "1");
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      vi.useRealTimers();
    });
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
  });

  test("an endpoint stops its timer and never aborts the signal once it has responded", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let signal: AbortSignal | undefined;
    await askOpen({}, async (request) => {
      signal = request.signal;
      return request.reply(200, { said: "yes" });
    });

    expect(vi.getTimerCount()).toBe(0);
    expect(signal?.aborted).toBe(false);
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
    [500, () => Promise.reject(new TypeError("broken")), 10_000],
    [503, () => Promise.reject(new Unavailable("DynamoDB", "TimeoutError")), 10_000],
    [504, () => new Promise<never>(() => {}), 600],
  ])(
    "an endpoint runs the rollback before it responds %i, with a time-out of its own",
    async (status, end, milliseconds) => {
      expect(await undoneBy(end, milliseconds)).toEqual({ status, undone: [false] });
    },
  );

  test("an endpoint runs no rollback when it responds 200 or 404", async () => {
    expect(await undoneBy(answerOpen)).toEqual({ status: 200, undone: [] });
    expect(await undoneBy(async ({ refuse }) => Promise.reject(refuse("NOT_FOUND")))).toEqual({
      status: 404,
      undone: [],
    });
  });

  test("an endpoint responds 503 and logs NCS-005 when the rollback hangs", async () => {
    vi.stubEnv("DEADLINE_FACTOR", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const output = captureOutput();
    const result = await askOpen({}, async ({ onFault }) => {
      onFault(
        (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      );
      throw new Unavailable("DynamoDB", "TimeoutError");
    }).finally(output.stop);

    expect(result.statusCode).toBe(503);
    expect(output.text()).toContain('"NCS-005"');
  });
});
