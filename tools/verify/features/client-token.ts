import { randomUUID } from "node:crypto";
import { importJWK, type JWK, SignJWT } from "jose";
import * as z from "zod";
import { send } from "../../calls/send.ts";
import { readJsonAs } from "../../import/json-file.ts";

/** A client with a key, at a token endpoint as CAMARA profiles it. */
export interface TokenClient {
  readonly clientId: string;
  /** A private key as a JWK with `alg` and `kid`. */
  readonly keyFile: string;
  /** Where the metadata are found. */
  readonly issuer: string;
  /** Such as `tel:+34600000001`, for a 3-legged token. */
  readonly subject?: string | undefined;
  /** Such as `dpv:ServiceProvision`. */
  readonly purpose?: string | undefined;
}

const metadata = z.object({ issuer: z.string(), token_endpoint: z.url() });
const privateKey = z.looseObject({ kty: z.string(), alg: z.string(), kid: z.string() });
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/**
 * Gets a token: for the client itself by `client_credentials`, for a subject by `jwt-bearer`.
 * @throws {Error} with the code of the refusal.
 */
export async function clientToken(client: TokenClient, scopes: readonly string[]): Promise<string> {
  const { clientId, subject, purpose } = client;
  const found = await send(`${client.issuer}/.well-known/openid-configuration`, {});
  const { issuer, token_endpoint } = metadata.parse(await found.json());
  const jwk = await readJsonAs(privateKey, client.keyFile);
  const scope = [...scopes, ...(purpose === undefined ? [] : [purpose])].join(" ");
  const assertion = await new SignJWT(subject === undefined ? {} : { scope })
    .setProtectedHeader({ alg: jwk.alg, kid: jwk.kid })
    .setIssuer(clientId)
    .setSubject(subject ?? clientId)
    .setAudience(issuer)
    .setIssuedAt()
    .setExpirationTime("1 minute")
    .setJti(randomUUID())
    .sign(await importJWK(jwk as JWK));
  const form =
    subject === undefined
      ? {
          grant_type: "client_credentials",
          client_id: clientId,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: assertion,
          scope,
        }
      : { grant_type: jwtBearer, assertion };
  const response = await send(token_endpoint, { method: "POST", body: new URLSearchParams(form) });
  const answer: unknown = await response.json();
  const token = z.object({ access_token: z.string() }).safeParse(answer);
  if (token.success) return token.data.access_token;
  const { error = "" } = z.object({ error: z.string().optional() }).safeParse(answer).data ?? {};
  throw new Error(`${clientId} gets no token at ${token_endpoint}: ${response.status} ${error}`.trim());
}
