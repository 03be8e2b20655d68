import { describe, expect, it } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { call, tokenWith } from "../support/client.ts";
import { goodRequests } from "../support/sample-requests.ts";
import { everyScope } from "../support/scopes.ts";

const posts = (endpoints as readonly Endpoint[])
  .filter(({ method }) => method === "POST")
  .flatMap((endpoint) => pathsOf(endpoint).map((path) => ["POST", path, undefined] as const));
const gets = (await goodRequests())
  .filter(({ endpoint }) => endpoint.method === "GET")
  .map(({ path, claims: { client_id } }) => ["GET", path, client_id] as const);
const routes = [...posts, ...gets];

/** A body without what the capabilities say of the stored densities: other tests store some between two calls. */
const lasting = (body: unknown) =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === "coverage" ? undefined : value)));

describe("a path with one slash at its end", () => {
  it.each(routes)("is answered like the path without: %s %s", async (method, path, client) => {
    const caller = client === undefined ? {} : { client_id: client };
    const token = await tokenWith({ scope: everyScope.join(" "), ...caller });
    const request = method === "GET" ? { token } : { method, token, body: [] };

    const plain = await call(path, request);
    const slashed = await call(`${path}/`, request);

    expect(plain.status).toBe(method === "GET" ? 200 : 400);
    expect(slashed.status).toBe(plain.status);
    expect(lasting(slashed.body)).toEqual(lasting(plain.body));
  });

  it("with two of them is no route", async () => {
    expect((await call("/.well-known/jwks.json//")).status).toBe(404);
  });

  it("is logged in at by an application that writes it so", async () => {
    const body = { emailaddress: "app@example.com", password: "correct horse battery staple" };
    expect((await call("/v3/profile/authenticate/", { body })).status).toBe(200);
  });
});
