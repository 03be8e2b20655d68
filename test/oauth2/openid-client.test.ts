import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { jwtBearer } from "../../functions/oauth2/rules.ts";
import { storeSampleOperations } from "../../tools/sample-operations.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isInCi } from "../support/sample.ts";
import { goodRequests } from "../support/sample-requests.ts";
import { demoKey } from "./test-client.ts";

const [demoClient] = z
  .array(
    z.looseObject({
      clientId: z.string(),
      scopes: z.array(z.string()),
      purposes: z.optional(z.array(z.string())),
    }),
  )
  .parse(JSON.parse(readFileSync("tools/demo/clients.json", "utf8")));
const { clientId = "", scopes = [], purposes: [_purpose = ""] = [] } = demoClient ?? {};

let service: OwnService;
let config: client.Configuration;

beforeAll(async () => {
  service = await startOwnService({}, { hasDemoData: true, isIssuer: true });
  await storeSampleOperations(service.put, clientId);
  const { kid, privateKey } = demoKey();
  const jwk = privateKey.export({ format: "jwk" });
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = await webcrypto.subtle.importKey("jwk", jwk, algorithm, false, ["sign"]);
  config = await client.discovery(
    new URL(service.url),
    clientId,
    undefined,
    client.PrivateKeyJwt({ key, kid }),
    { execute: [client.allowInsecureRequests] },
  );
});
afterAll(() => service?.close());

test("openid-client discovers the issuer under both well-known addresses, with nothing that does not exist", async () => {
  const { supportsPKCE: _, ...metadata } = config.serverMetadata();

  expect(metadata).toEqual({
    issuer: service.url,
    token_endpoint: `${service.url}/oauth2/token`,
    jwks_uri: `${service.url}/.well-known/jwks.json`,
    scopes_supported: expect.arrayContaining(scopes),
    response_types_supported: [],
    grant_types_supported: ["client_credentials", jwtBearer],
    token_endpoint_auth_methods_supported: ["private_key_jwt"],
    token_endpoint_auth_signing_alg_values_supported: ["ES256", "ES384", "EdDSA", "PS256", "RS256"],
  });
  const other = await client.discovery(new URL(service.url), clientId, undefined, undefined, {
    algorithm: "oauth2",
    execute: [client.allowInsecureRequests],
  });
  expect(other.serverMetadata().token_endpoint).toBe(metadata.token_endpoint);
  expect((await service.call("/.well-known/jwks.json")).status).toBe(200);
});

test.runIf(isInCi)(
  "openid-client gets a client's token, with which every operation of the examples succeeds",
  async () => {
    const { access_token: token } = await client.clientCredentialsGrant(config, { scope: scopes.join(" ") });
    const called = new Map<string, number>();
    for (const { endpoint, path, headers, body, claims } of await goodRequests()) {
      const isOfSubscriber = claims.subscription !== undefined;
      if (endpoint.scope === null || isOfSubscriber || called.has(endpoint.id)) continue;
      const response = await client.fetchProtectedResource(
        config,
        token,
        new URL(`${service.url}${path}`),
        endpoint.method,
        body ?? null,
        new Headers(headers),
      );
      called.set(endpoint.id, response.status);
      await response.body?.cancel();
    }

    const failed = [...called].filter(([, status]) => status >= 400);
    expect(called.size).toBe(endpoints.filter(({ scope }) => scope !== null).length);
    expect(failed).toEqual([]);
  },
);

test("openid-client reads the refusals of the token endpoint as errors of OAuth 2", async () => {
  const refused = client.clientCredentialsGrant(config, { scope: "qos-profiles:write" });
  await expect(refused).rejects.toMatchObject({ error: "invalid_scope", status: 400 });

  const otherKey = (await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
  ])) as webcrypto.CryptoKeyPair;
  const stranger = new client.Configuration(
    config.serverMetadata(),
    clientId,
    undefined,
    client.PrivateKeyJwt(otherKey.privateKey),
  );
  client.allowInsecureRequests(stranger);
  const unauthenticated = client.clientCredentialsGrant(stranger, { scope: "qos-profiles:read" });
  await expect(unauthenticated).rejects.toMatchObject({ error: "invalid_client", status: 401 });
});
