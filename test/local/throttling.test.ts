import { afterAll, expect, test } from "vitest";
import * as z from "zod";
import { Gateway, type GatewayOptions } from "../../tools/local/gateway/gateway.ts";
import { InvocationError, throttledInvocation } from "../../tools/local/lambda/invocation-error.ts";
import type { ListeningServer } from "../../tools/local/servers/listening-server.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { sharedService } from "../support/service.ts";

const { api } = loadTemplate(sharedService.assembly);
const errorBody = z.strictObject({ status: z.number(), code: z.string(), message: z.string() });

let now = 0;
const opened: ListeningServer[] = [];

/** Opens a gateway of the deployed API whose functions all answer with `invoke`. */
async function open(invoke: GatewayOptions["invoke"], throttled: boolean): Promise<string> {
  const stream = async () => {
    await invoke("", {});
    throw new Error("nothing here is streamed");
  };
  const logs = { write() {} };
  const server = await new Gateway({ api, invoke, stream, logs, throttled, now: () => now }).open(0);
  opened.push(server);
  return server.url;
}

afterAll(() => Promise.all(opened.map((server) => server.close())));

const answer = async () => ({ statusCode: 200, body: "{}" });
const document = "/openapi.json";
const keys = "/.well-known/jwks.json";

async function statuses(url: string, count: number): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => fetch(url)));
  return answers.map(({ status }) => status).sort();
}

const times = (count: number, status: number) => Array.from({ length: count }, () => status);

test("a throttled gateway passes a method's burst, then its rate, and counts each method apart", async () => {
  const url = await open(answer, true);

  expect(await statuses(`${url}${keys}`, 12)).toEqual([...times(10, 200), ...times(2, 429)]);
  expect(await statuses(`${url}${document}`, 1)).toEqual([200]);

  now += 100; // Two tokens at 20 a second.
  expect(await statuses(`${url}${keys}`, 3)).toEqual([200, 200, 429]);

  now += 60_000; // The bucket holds no more than the burst.
  expect(await statuses(`${url}${keys}`, 12)).toEqual([...times(10, 200), ...times(2, 429)]);
});

test("a throttled gateway responds 429 with Retry-After, the correlator and the usual error body", async () => {
  const url = await open(answer, true);
  await statuses(`${url}${keys}`, 10);

  const response = await fetch(`${url}${keys}`, { headers: { "x-correlator": "t-1" } });
  expect(response.status).toBe(429);
  expect(errorBody.parse(await response.json()).code).toBe("TOO_MANY_REQUESTS");
  expect(response.headers.get("retry-after")).toBe("1");
  expect(response.headers.get("x-correlator")).toBe("t-1");
});

test.each(api.routes.filter(({ integration }) => "functionLogicalId" in integration))(
  "the gateway responds 503 with Retry-After to $method $path when Lambda throttles its function or authorizer",
  async ({ method, path }) => {
    const url = await open(async () => {
      throw new InvocationError(throttledInvocation, "Rate Exceeded.");
    }, false);
    const headers = { authorization: "Bearer a.b.c" };
    const response = await fetch(`${url}${path.replaceAll(/[{}]/g, "")}`, { method, headers });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    if (method === "HEAD") return;
    expect(errorBody.parse(await response.json()).code).toBe("UNAVAILABLE");
  },
);
