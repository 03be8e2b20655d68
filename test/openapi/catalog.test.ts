import { expect, test } from "vitest";
import * as z from "zod";
import onDisk from "../../docs/openapi.json" with { type: "json" };
import { protocolEndpoints } from "../../functions/areas.ts";
import { pathsOf } from "../../shared/endpoint.ts";
import { call } from "../support/client.ts";
import { sharedService } from "../support/service.ts";

const path = "/.well-known/api-catalog";
const links = z.array(z.strictObject({ href: z.string(), type: z.string().optional() }));
const catalog = z.strictObject({
  linkset: z.array(
    z.strictObject({
      anchor: z.string(),
      item: links.optional(),
      "service-desc": links.optional(),
      "service-doc": links.optional(),
    }),
  ),
});

test("GET /.well-known/api-catalog is answered without a token with a linkset of API catalogues", async () => {
  const { status, headers, body } = await call(path);

  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe(
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  );
  expect(headers.get("link")).toBe('<api-catalog>; rel="api-catalog"');
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  expect(catalog.safeParse(body).error).toBeUndefined();
});

test("the catalogue names each API once, and every operation but documents and those of OAuth 2 belongs to one", async () => {
  const [itself, ...apis] = catalog.parse((await call(path)).body).linkset;
  const address = sharedService.url;

  expect(itself?.anchor).toBe(`${address}${path}`);
  const bases = (itself?.item ?? []).map(({ href }) => href);
  expect(new Set(bases).size).toBe(bases.length);
  expect(apis.map(({ anchor }) => anchor)).toEqual(bases);
  const documents = ["/openapi.json", path, "/.well-known/jwks.json"];
  const protocol = protocolEndpoints.flatMap(pathsOf);
  const outside = Object.keys(onDisk.paths).filter(
    (one) => !bases.some((base) => `${address}${one}`.startsWith(`${base}/`)),
  );
  expect(outside.sort()).toEqual([...documents, ...protocol].sort());
});

test("the catalogue links each API to its documents, and the OpenAPI document answers 200", async () => {
  const [, ...apis] = catalog.parse((await call(path)).body).linkset;
  const described = apis.map((api) => api["service-desc"]);

  expect(described).toEqual(
    apis.map(() => [{ href: `${sharedService.url}/openapi.json`, type: "application/json" }]),
  );
  const documents = ["reference", "llms.txt"].map((name) => `${sharedService.url}/${name}`);
  for (const api of apis) expect(api["service-doc"]?.map(({ href }) => href)).toEqual(documents);
  const { status, headers } = await call("/openapi.json");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json");
});

test("HEAD /.well-known/api-catalog is answered with the headers of GET and no body (RFC 9727, section 2)", async () => {
  const ask = (method: string) => fetch(`${sharedService.url}${path}`, { method });
  const [head, got] = [await ask("HEAD"), await ask("GET")];

  expect(head.status).toBe(200);
  for (const name of ["content-type", "content-length", "link", "cache-control"]) {
    expect(head.headers.get(name), name).toBe(got.headers.get(name));
  }
  expect(await head.text()).toBe("");
  expect(await got.text()).not.toBe("");
});
