import { afterAll, expect, test } from "vitest";
import * as z from "zod";
import { Gateway, type GatewayOptions } from "../../tools/local/gateway/gateway.ts";
import { InvocationError, throttledInvocation } from "../../tools/local/lambda/invocation-error.ts";
import type { ListeningServer } from "../../tools/local/servers/listening-server.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { sharedService } from "../support/service.ts";

const { api } = loadTemplate(sharedService.assembly);
const errorBody = z.strictObject({ status: z.number(), code: z.string(), message: z.string() });

const opened: ListeningServer[] = [];

/** Opens a gateway of the deployed API whose functions all answer with `invoke`. */
async function open(invoke: GatewayOptions["invoke"]): Promise<string> {
  const stream = async () => {
    await invoke("", {});
    throw new Error("nothing here is streamed");
  };
  const logs = { write() {} };
  const server = await new Gateway({ api, invoke, stream, logs }).open(0);
  opened.push(server);
  return server.url;
}

afterAll(() => Promise.all(opened.map((server) => server.close())));

test.each(api.routes.filter(({ integration }) => "functionLogicalId" in integration))(
  "the gateway responds 503 with Retry-After to $method $path when Lambda throttles its function or authorizer",
  async ({ method, path }) => {
    const url = await open(async () => {
      throw new InvocationError(throttledInvocation, "Rate Exceeded.");
    });
    const headers = { authorization: "Bearer a.b.c" };
    const response = await fetch(`${url}${path.replaceAll(/[{}]/g, "")}`, { method, headers });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    if (method === "HEAD") return;
    expect(errorBody.parse(await response.json()).code).toBe("UNAVAILABLE");
  },
);
