import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import * as z from "zod";
import { configuration } from "../../infra/variables.ts";
import { publicJwk } from "../../shared/tokens/token.ts";
import { call } from "../support/client.ts";

const path = "/.well-known/jwks.json";
const keySet = z.strictObject({ keys: z.array(z.strictObject(publicJwk.shape)).min(1) });
const login = z.object({ Data: z.object({ access_token: z.string() }) });

test("GET /.well-known/jwks.json returns 200 with public key members only, cacheable for five minutes", async () => {
  const { status, headers, body } = await call(path, { headers: { "x-correlator": "k-1" } });

  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-correlator")).toBe("k-1");
  // Strict: no private member d, nor any other.
  expect(keySet.safeParse(body).error).toBeUndefined();
});

test("GET /.well-known/jwks.json returns 200 for any Authorization header", async () => {
  for (const authorization of ["Bearer garbage", "Basic YTpi", "nonsense"]) {
    expect(await call(path, { headers: { authorization } })).toMatchObject({ status: 200 });
  }
});

test("GET /.well-known/jwks.json returns keys that verify the token of a login", async () => {
  const credentials = { emailaddress: "qos-only@example.com", password: "qos only pass" };
  const { Data } = login.parse((await call("/v3/profile/authenticate", { body: credentials })).body);
  const { keys } = keySet.parse((await call(path)).body);

  const { payload, protectedHeader } = await jwtVerify(Data.access_token, createLocalJWKSet({ keys }), {
    issuer: configuration.TOKEN_ISSUER.default,
    audience: configuration.TOKEN_AUDIENCE.default,
    algorithms: ["ES256"],
    typ: "at+jwt",
  });

  expect(payload).toMatchObject({ sub: "1007", client_id: "1007", scope: "qos-profiles:read" });
  expect(keys.map(({ kid }) => kid)).toContain(protectedHeader.kid);
});
