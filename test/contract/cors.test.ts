import { expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { gatewayResponsesOf } from "../../infra/gateway.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { errorBody } from "../../shared/schemas.ts";
import { call, tokenWith } from "../support/client.ts";
import { goodRequests } from "../support/sample-requests.ts";
import { sharedService } from "../support/service.ts";

/** The demo allows pages from any port of this machine. */
const page = "http://localhost:5173";
/** Another host, whose name begins like an allowed origin. */
const elsewhere = "http://localhost:5173.evil.example";

const declared: readonly Endpoint[] = endpoints;
const paths = [...new Set(declared.flatMap(pathsOf))];
const at = (path: string) => declared.filter((endpoint) => pathsOf(endpoint).includes(path));
const verbsAt = (path: string) => at(path).flatMap(verbsOf).sort();
const filled = (path: string) => path.replaceAll(/\{[^}]+\}/g, "a-name");

/** A request with an `Origin`, which `fetch` itself would not send. */
function from(origin: string, path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  return fetch(`${sharedService.url}${filled(path)}`, { ...init, headers: { ...init.headers, origin } });
}

function preflight(origin: string, path: string): Promise<Response> {
  const asked = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  return from(origin, path, { method: "OPTIONS", headers: asked });
}

const list = (response: Response, name: string) => (response.headers.get(name) ?? "").split(",");

test.each(paths)(
  "%s answers the preflight of an allowed page with its verbs and headers, and of another with neither",
  async (path) => {
    const response = await preflight(page, path);

    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(response.headers.get("access-control-allow-origin")).toBe(page);
    expect(response.headers.get("access-control-max-age")).toBe("7200");
    expect(response.headers.get("vary")).toBe("origin");
    expect(list(response, "access-control-allow-methods")).toEqual(verbsAt(path));
    const read = at(path).flatMap(({ requestHeaders = {} }) => Object.keys(requestHeaders));
    expect(list(response, "access-control-allow-headers")).toEqual(
      expect.arrayContaining([
        "authorization",
        "content-type",
        "x-correlator",
        ...read.map((name) => name.toLowerCase()),
      ]),
    );
    // Tokens are sent by the page itself, never by the browser.
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    const { headers } = await preflight(elsewhere, path);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    expect(headers.get("vary")).toBe("origin");
  },
);

test.each(paths)("%s answers another verb with 405 and the verbs it has", async (path) => {
  const response = await from(page, path, { method: "PUT", headers: { "x-correlator": "c-1" } });

  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe(verbsAt(path).join(", "));
  expect(response.headers.get("x-correlator")).toBe("c-1");
  expect(response.headers.get("x-request-id")).toMatch(/.+/);
  expect(response.headers.get("access-control-allow-origin")).toBe(page);
  const body = z.strictObject(errorBody.shape).parse(await response.json());
  expect(body).toEqual({
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    message: `This path takes ${verbsAt(path).join(" and ")} only.`,
  });
});

const check = "/numberrecycling/check";

test("a response with 405 echoes no malformed correlator for any body", async () => {
  const sent = await call(check, {
    method: "DELETE",
    body: "a=b",
    headers: { "content-type": "application/x-www-form-urlencoded", "x-correlator": "no spaces" },
  });
  expect(sent.status).toBe(405);
  expect(sent.headers.get("x-correlator")).toBe(sent.headers.get("x-request-id"));
});

test("functions name the origin of an allowed page, in streamed responses and refusals too", async () => {
  const good = (await goodRequests()).filter(({ endpoint }) =>
    ["population-density/retrieve", "qos-profiles/retrieve"].includes(endpoint.id),
  );
  expect(good.length).toBeGreaterThan(1);
  for (const { path, body = "", claims } of good.slice(0, 4)) {
    const token = await tokenWith(claims);
    for (const sent of [body, "{"]) {
      const { status, headers } = await call(path, { token, body: sent, headers: { origin: page } });
      expect(status < 300).toBe(sent === body);
      expect(headers.get("access-control-allow-origin")).toBe(page);
      expect(headers.get("access-control-expose-headers")?.split(",")).toContain("x-ratelimit-remaining");
      expect(headers.get("vary")).toMatch(/\borigin$/);
    }
  }
});

test("API Gateway's own error responses allow the one configured origin, or any origin if several are configured", () => {
  const readBy = (...origins: readonly string[]) => {
    const read = gatewayResponsesOf(origins).map(({ headers }) => headers);
    for (const headers of read)
      expect(headers["access-control-expose-headers"]?.split(",")).toContain("www-authenticate");
    return [...new Set(read.map((headers) => headers["access-control-allow-origin"]))];
  };
  expect(readBy(page)).toEqual([`'${page}'`]);
  for (const several of [[page, elsewhere], ["http://localhost:*"]])
    expect(readBy(...several)).toEqual(["'*'"]);
});
