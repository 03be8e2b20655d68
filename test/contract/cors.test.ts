import { describe, expect, inject, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { errorBody } from "../../shared/schemas.ts";
import { triedSettings } from "../infra/shared-templates.ts";
import { deployed, resourcesOf, sharedTemplate } from "../infra/template.ts";
import { call, tokenWith } from "../support/client.ts";
import { goodRequests } from "../support/sample-requests.ts";

/** The demo allows pages from any port of this machine. */
const page = "http://localhost:5173";
const elsewhere = "https://evil.example";

const declared: readonly Endpoint[] = endpoints;
const paths = [...new Set(declared.flatMap(pathsOf))];
const at = (path: string) => declared.filter((endpoint) => pathsOf(endpoint).includes(path));
const verbsAt = (path: string) => at(path).flatMap(verbsOf).sort();
const filled = (path: string) => path.replaceAll(/\{[^}]+\}/g, "a-name");

/** A request with an `Origin`, which `fetch` itself would not send. */
function from(origin: string, path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  return fetch(`${inject("url")}${filled(path)}`, { ...init, headers: { ...init.headers, origin } });
}

function preflight(origin: string, path: string): Promise<Response> {
  const asked = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  return from(origin, path, { method: "OPTIONS", headers: asked });
}

const list = (response: Response, name: string) => (response.headers.get(name) ?? "").split(",");

describe.each(paths)("%s", (path) => {
  test("answers the preflight of an allowed page: its origin, the verbs, and the headers that are read", async () => {
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
  });

  test("allows a page of another origin nothing", async () => {
    const response = await preflight(elsewhere, path);
    const named = [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
    expect(named).toEqual([]);
    expect(response.headers.get("vary")).toBe("origin");
  });

  test("answers a verb that it does not have with 405, and says which it has", async () => {
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
});

describe("a verb that a path does not have", () => {
  const path = "/numberrecycling/check";

  test("is answered so whatever the body is, a valid correlator is echoed, and no other", async () => {
    const sent = await call(path, {
      method: "DELETE",
      body: "a=b",
      headers: { "content-type": "application/x-www-form-urlencoded", "x-correlator": "no spaces" },
    });
    expect(sent.status).toBe(405);
    expect(sent.headers.get("x-correlator")).toBe(sent.headers.get("x-request-id"));
  });

  test("reads differently from a path that there is not, and from a profile that there is not", async () => {
    const token = await tokenWith({ scope: "qos-profiles:read" });
    const messages = await Promise.all([
      call(path, { method: "GET", token }),
      call("/numberrecycling/checks", { token }),
      call("/qualityondemand/qos-profiles/NOBODY", { token }),
    ]);
    expect(messages.map(({ status, body }) => [status, errorBody.parse(body).message])).toEqual([
      [405, "This path takes POST only."],
      [404, "There is no operation with this path."],
      [404, "There is no QoS profile with this name, or none for this subject."],
    ]);
  });
});

describe("responses to a page", () => {
  test("of functions name its origin, those that are streamed and those that refuse too", async () => {
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

  test("of functions name no origin to a page that is not allowed, and still vary by it", async () => {
    const { status, headers } = await call("/openapi.json", { headers: { origin: elsewhere } });
    expect(status).toBe(200);
    expect(headers.has("access-control-allow-origin")).toBe(false);
    expect(headers.get("vary")).toBe("accept-encoding, origin");
  });

  test.each([
    [401, "/qualityondemand/qos-profiles/QOS_E", {}],
    [404, "/nowhere", {}],
    [403, "/numberrecycling/check", { scope: "qos-profiles:read" }],
  ])("of API Gateway itself can be read: %i", async (expected, path, claims) => {
    const token = "scope" in claims ? await tokenWith(claims) : undefined;
    const { status, headers } = await call(path, {
      ...(token === undefined ? {} : { token, body: {} }),
      headers: { origin: page },
    });
    expect(status).toBe(expected);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-expose-headers")?.split(",")).toContain("www-authenticate");
  });
});

describe("without the setting", () => {
  test("nothing in the template is about origins", () => {
    expect(JSON.stringify(deployed)).not.toMatch(/access-control-|CORS_ORIGINS/i);
  });
});

describe("with one origin", () => {
  const origin = triedSettings.corsOrigins;
  const made = sharedTemplate("triedSettings");

  test("what API Gateway refuses by itself names that one", () => {
    const responses = resourcesOf(
      "AWS::ApiGateway::GatewayResponse",
      z.object({ ResponseParameters: z.record(z.string(), z.string()) }),
      made,
    );
    expect(responses.length).toBeGreaterThan(20);
    for (const { properties } of responses) {
      const { ResponseParameters: parameters } = properties;
      expect(parameters["gatewayresponse.header.access-control-allow-origin"]).toBe(`'${origin}'`);
    }
  });
});
