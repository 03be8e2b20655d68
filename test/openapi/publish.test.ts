import { beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import onDisk from "../../docs/openapi.json" with { type: "json" };
import { areas, documentedAreas } from "../../functions/areas.ts";
import { withTimesAbout } from "../../functions/openapi/example-times.ts";
import { handler } from "../../functions/openapi/publish.ts";
import { withSandbox } from "../../functions/openapi/sandbox.ts";
import { configuration } from "../../infra/variables.ts";
import packageJson from "../../package.json" with { type: "json" };
import { canonicalDocument, openApiDocument } from "../../tools/docs/openapi.ts";
import { readEventFile } from "../../tools/event-files.ts";
import { call } from "../support/client.ts";
import { captureOutput } from "../support/pipeline.ts";
import { sharedService } from "../support/service.ts";

const path = "/openapi.json";
const canonical: typeof onDisk = JSON.parse(
  JSON.stringify(canonicalDocument(documentedAreas, packageJson.version)),
);
const local = "http://127.0.0.1:3000";

const answer = z.object({ statusCode: z.literal(200), body: z.string() });
const withServers = z.looseObject({ servers: z.array(z.looseObject({ url: z.string() })) });
const proxyEvent = z.looseObject({
  headers: z.record(z.string(), z.string()),
  requestContext: z.looseObject({ path: z.string() }),
});

beforeAll(() => vi.stubEnv("TOKEN_ENDPOINT", "off"));

/** The document that an event brings, from a stage without any setting. */
async function documentFor(event: unknown) {
  const output = captureOutput();
  const answered = await handler(event, { getRemainingTimeInMillis: () => 10_000 }).finally(output.stop);
  return withServers.parse(JSON.parse(answer.parse(answered).body));
}

/** The addresses of its servers. */
async function serversFor(event: unknown): Promise<string[]> {
  return (await documentFor(event)).servers.map(({ url }) => url);
}

/** A generated document as the shared service has it today. */
function asServed(document: typeof onDisk) {
  const { components, ...others } = withSandbox(withTimesAbout(new Date(), document));
  const { securitySchemes } = components;
  const openIdConnectUrl = `${configuration.TOKEN_ISSUER.default}/.well-known/openid-configuration`;
  return {
    ...others,
    servers: expect.any(Array),
    components: {
      ...components,
      securitySchemes: {
        ...securitySchemes,
        openId: { ...securitySchemes.openId, openIdConnectUrl },
      },
    },
  };
}

async function eventIn(name: string) {
  return proxyEvent.parse((await readEventFile(`events/openapi/${name}.json`)).event);
}

test("GET /openapi.json returns the document without a token, cacheable for five minutes", async () => {
  const { status, headers, body } = await call(path, { headers: { "x-correlator": "o-1" } });

  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-correlator")).toBe("o-1");
  expect(body).toEqual(asServed(onDisk));
});

test("GET /openapi.json?aliases=false is answered with the document without aliases", async () => {
  const { status, body } = await call(`${path}?aliases=false`);

  expect(status).toBe(200);
  expect(body).toEqual(asServed(canonical));
});

test("the document of a stage without a token endpoint is that of its APIs, and names neither the endpoint nor its errors", async () => {
  const { servers: _, ...document } = await documentFor(await eventIn("publish.200-custom-domain"));

  const ofApis = JSON.stringify(withTimesAbout(new Date(), openApiDocument(areas, packageJson.version)));
  const expected = JSON.parse(ofApis, (name, value) =>
    name === "security" ? value.filter((one: object) => !("openId" in one)) : value,
  );
  delete expected.components.securitySchemes.openId;
  delete expected.servers;
  expect(document).toEqual(expected);
  expect(JSON.stringify(document)).not.toMatch(/openId|oauth2|INVALID_CLIENT/);
});

test("GET /openapi.json?aliases=no is answered with 400", async () => {
  const { status, body } = await call(`${path}?aliases=no`);
  expect(status).toBe(400);
  expect(body).toMatchObject({ message: "aliases must be true or false." });
});

test("the first server of the document in a local run is its address, over http", async () => {
  const { body } = await call(path);
  const urls = withServers.parse(body).servers.map(({ url }) => url);
  expect(urls).toEqual([sharedService.url, local]);
});

test("the first server of the document ignores headers about host and scheme", async () => {
  const event = await eventIn("publish.200-custom-domain");
  const headers = {
    ...event.headers,
    Host: "elsewhere.example:80",
    Forwarded: "host=elsewhere.example;proto=http",
    "X-Forwarded-Host": "elsewhere.example",
    "X-Forwarded-Proto": "http",
  };
  expect(await serversFor({ ...event, headers })).toEqual(["https://api.example.com", local]);
});

test("the document has a server once when the caller used one of its own", async () => {
  const { requestContext, ...event } = await eventIn("publish.200-custom-domain");
  const there = { ...requestContext, domainName: "127.0.0.1:3000" };
  const headers = { "X-Forwarded-Proto": "http" };
  expect(await serversFor({ ...event, headers, requestContext: there })).toEqual([local]);
});
