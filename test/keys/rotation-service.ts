/** A service whose signing key the tests rotate, with one profile that logs in. */
import { createPrivateKey, randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import type { JWK } from "jose";
import * as z from "zod";
import { hashed } from "../../shared/hash.ts";
import type { PrivateJwk } from "../../shared/tokens/token.ts";
import { type Answer, claimsOf } from "../support/client.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { quickHash } from "../support/quick-logins.ts";
import { signedBy, tokenOf } from "../support/signed.ts";

/** The steps of a rotation in the order in which Secrets Manager runs them. */
export const steps = ["createSecret", "setSecret", "testSecret", "finishSecret"] as const;

/** What the profile logs in with. */
const credentials = {
  emailaddress: "rotation@example.com",
  password: "a password for the rotation",
} as const;

/** The profile without its address and password. */
export const profile = {
  ID: 1,
  Username: "Rotation",
  DateCreated: "2026-01-01T00:00:00Z",
  IsProfilePublic: false,
  EmailAddress: credentials.emailaddress,
  Permissions: "qos-profiles:read",
};

/** Starts a service and stores the profile. */
export async function startRotationService(): Promise<OwnService> {
  const service = await startOwnService({});
  const passwordHash = await quickHash(credentials.password);
  await service.put("profiles", { ...profile, address: hashed(credentials.emailaddress), passwordHash });
  return service;
}

/** Runs one step of a rotation. */
export async function runStep(
  service: OwnService,
  Step: (typeof steps)[number],
  token: string,
): Promise<void> {
  const event = { SecretId: service.secretId, ClientRequestToken: token, Step };
  await service.invoke("keys/rotate", event);
}

/** Runs a whole rotation. */
export async function rotate(service: OwnService): Promise<void> {
  const token = randomUUID();
  for (const step of steps) await runStep(service, step, token);
}

const loginAnswer = z.object({ Data: z.object({ access_token: z.string() }) });

/** The token in the body of a login's answer. */
export function tokenIn(body: unknown): string {
  return loginAnswer.parse(body).Data.access_token;
}

const functionAnswer = z.object({ statusCode: z.number(), body: z.string() });

/** Logs in at a function in a thread that starts for it, and so reads the signing key now. */
export async function logInCold(
  service: OwnService,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const event = {
    headers: {},
    body: JSON.stringify(credentials),
    isBase64Encoded: false,
    requestContext: { identity: { sourceIp: "192.0.2.1" } },
  };
  const answer = await service.invoke("profile/authenticate", event, { environment: {} });
  const { statusCode, body } = functionAnswer.parse(answer);
  return { status: statusCode, body: JSON.parse(body) };
}

/** A new token signed with a key: the gateway caches the authorizer's policy for each token. */
export function freshTokenOf(jwk: PrivateJwk): string {
  const privateKey = createPrivateKey({ key: { ...jwk }, format: "jwk" });
  const header = { alg: "ES256", typ: "at+jwt", kid: jwk.kid };
  return tokenOf(header, claimsOf("client"), signedBy({ kid: jwk.kid, jwk, privateKey }));
}

/** Sends a request with a token. */
export async function callWith(service: OwnService, token: string): Promise<Answer> {
  return await service.call("/qualityondemand/retrieve-qos-profiles", {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: "{}",
  });
}

const keySet = z.object({ keys: z.array(z.looseObject({ kid: z.string(), kty: z.string() })) });

/** The published key set. */
export async function publishedKeys(service: OwnService): Promise<{ keys: (JWK & { kid: string })[] }> {
  return keySet.parse((await service.call("/.well-known/jwks.json")).body);
}

/** When a published key expires, in seconds since 1970; undefined for a key that does not yet. */
export async function expiryOf(service: OwnService, kid: string): Promise<number | undefined> {
  const command = new GetItemCommand({
    TableName: service.tableName("signing-keys"),
    Key: marshall({ use: "sig", kid }),
  });
  const { Item = {} } = await service.database.send(command);
  return z.object({ expiresAt: z.number().optional() }).parse(unmarshall(Item)).expiresAt;
}
