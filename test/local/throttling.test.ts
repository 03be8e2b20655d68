import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Gateway, type GatewayOptions } from "../../tools/local/gateway/gateway.ts";
import { InvocationError } from "../../tools/local/lambda/invocation-error.ts";
import type { ListeningServer } from "../../tools/local/servers/listening-server.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { sharedService } from "../support/service.ts";

const { api } = loadTemplate(sharedService.assembly);
const errorBody = z.strictObject({ status: z.number(), code: z.string(), message: z.string() });

let now = 0;
const opened: ListeningServer[] = [];

/** Opens a gateway of the deployed API whose functions all answer with `invoke`. */
async function open(invoke: GatewayOptions["invoke"], throttled: boolean): Promise<string> {
  const stream = () => Promise.reject(new Error("nothing here is streamed"));
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

describe("a throttled gateway", () => {
  let url: string;
  beforeAll(async () => {
    url = await open(answer, true);
  });

  test("lets through the burst of a method, then its rate, and keeps other methods apart", async () => {
    expect(await statuses(`${url}${document}`, 12)).toEqual([...times(10, 200), ...times(2, 429)]);
    expect(await statuses(`${url}${keys}`, 1)).toEqual([200]);

    now += 100; // Two tokens at 20 a second.
    expect(await statuses(`${url}${document}`, 3)).toEqual([200, 200, 429]);

    now += 60_000; // The bucket holds no more than the burst.
    expect(await statuses(`${url}${document}`, 12)).toEqual([...times(10, 200), ...times(2, 429)]);
  });

  test("refuses in the form of every error, and says when to come back", async () => {
    await statuses(`${url}${document}`, 10);
    const response = await fetch(`${url}${document}`, { headers: { "x-correlator": "t-1" } });
    expect(response.status).toBe(429);
    expect(errorBody.parse(await response.json()).code).toBe("TOO_MANY_REQUESTS");
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("x-correlator")).toBe("t-1");
  });
});

test("without throttling any rate is let through", async () => {
  const url = await open(answer, false);
  expect(await statuses(`${url}${document}`, 30)).toEqual(times(30, 200));
});

test("a function that Lambda throttles is 503, and the caller is told when to come back", async () => {
  const url = await open(async () => {
    throw new InvocationError("TooManyRequestsException", "Rate Exceeded.");
  }, false);
  const response = await fetch(`${url}${keys}`);
  expect(response.status).toBe(503);
  expect(errorBody.parse(await response.json()).code).toBe("UNAVAILABLE");
  expect(response.headers.get("retry-after")).toBe("5");
});
