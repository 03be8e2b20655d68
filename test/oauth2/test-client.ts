import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { SignJWT } from "jose";
import * as z from "zod";
import { assertionType, jwtBearer } from "../../functions/oauth2/rules.ts";
import type { ClientRecord } from "../../functions/oauth2/tables.ts";
import { privateJwk } from "../../shared/tokens/token.ts";
import type { OwnService } from "../support/own-service.ts";
import type { KeyPair } from "../support/signed.ts";

/** The private key of the demo's client. */
export function demoKey(): KeyPair {
  const jwk = privateJwk.parse(JSON.parse(readFileSync("tools/demo/client-key.json", "utf8")));
  return {
    kid: jwk.kid,
    privateKey: createPrivateKey({ key: jwk, format: "jwk" }),
    jwk: { ...jwk, alg: "ES256" },
  };
}

/** Stores a client with these public keys, as an import does. */
export async function storeClient(
  service: OwnService,
  client: Omit<ClientRecord, "jwks"> & { readonly keys?: readonly KeyPair[] },
): Promise<void> {
  const { keys, ...record } = client;
  const jwks = keys === undefined ? undefined : { keys: keys.map(({ jwk }) => jwk) };
  await service.put("clients", { ...record, jwks });
}

type Claims = Readonly<Record<string, unknown>>;

/** The claims of a valid assertion of a client for itself; `undefined` removes one. */
export function claimsFor(service: Pick<OwnService, "url">, clientId: string, changed: Claims = {}): Claims {
  const now = Math.floor(Date.now() / 1_000);
  const valid = {
    iss: clientId,
    sub: clientId,
    aud: service.url,
    iat: now,
    exp: now + 60,
    jti: crypto.randomUUID(),
  };
  const all = Object.entries({ ...valid, ...changed }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(all);
}

/** Signs claims with a key. */
export async function signed(key: KeyPair, claims: Claims, header: Claims = {}): Promise<string> {
  const { kid, privateKey, jwk } = key;
  const alg = String(jwk.alg);
  return await new SignJWT({ ...claims }).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

/** The parameters of a request for a client's own token. */
export function clientCredentials(client_assertion: string, scope?: string): Record<string, string> {
  return {
    grant_type: "client_credentials",
    client_assertion_type: assertionType,
    client_assertion,
    ...(scope === undefined ? {} : { scope }),
  };
}

/** The parameters of a request for a subscriber's token. */
export function subscribersToken(assertion: string): Record<string, string> {
  return { grant_type: jwtBearer, assertion };
}

const answer = z.looseObject({
  access_token: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
});

/** The response of the token endpoint. */
export async function askForToken(
  service: OwnService,
  form: string | Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await service.call("/oauth2/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
  });
  return { ...response, body: answer.parse(response.body) };
}

/** A token of the demo's client for itself. */
export async function demoClientsToken(service: OwnService, scope: string): Promise<string> {
  const assertion = await signed(demoKey(), claimsFor(service, "demo-client"));
  const { body } = await askForToken(service, clientCredentials(assertion, scope));
  return z.string().parse(body.access_token);
}
