import { expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { call, tokenWith } from "../support/client.ts";
import { demoLogin } from "../support/demo-login.ts";
import { goodRequests } from "../support/sample-requests.ts";
import { everyScope } from "../support/scopes.ts";

const scope = everyScope.join(" ");
const posted = (endpoints as readonly Endpoint[]).filter(({ method }) => method === "POST").flatMap(pathsOf);
const read = (await goodRequests()).filter(({ endpoint }) => endpoint.method === "GET");

/** A body without what the capabilities say of the stored densities: other tests store some between two calls. */
const lasting = (body: unknown) =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === "coverage" ? undefined : value)));

test.each(posted)("POST %s/ is answered as without its last slash", async (path) => {
  // Refused by every operation, before it does anything.
  const headers = { "x-correlator": "not a correlator" };
  const request = { method: "POST", token: await tokenWith({ scope }), headers, body: [] };

  const plain = await call(path, request);
  const slashed = await call(`${path}/`, request);

  expect(plain.status).toBe(400);
  expect([slashed.status, slashed.body]).toEqual([plain.status, plain.body]);
});

test.each(read.map(({ path, claims }) => [path, claims] as const))(
  "GET %s/ is answered as without its last slash",
  async (path, { client_id }) => {
    const request = { token: await tokenWith({ scope, ...(client_id === undefined ? {} : { client_id }) }) };

    const plain = await call(path, request);
    const slashed = await call(`${path}/`, request);

    expect([plain.status, slashed.status]).toEqual([200, 200]);
    expect(lasting(slashed.body)).toEqual(lasting(plain.body));
  },
);

test("a path with two slashes at its end is answered with 404", async () => {
  expect((await call("/.well-known/jwks.json//")).status).toBe(404);
});

test("the login takes a slash at the end of its path", async () => {
  expect((await call("/v3/profile/authenticate/", { body: demoLogin })).status).toBe(200);
});
