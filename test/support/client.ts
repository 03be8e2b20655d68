import { randomBytes } from "node:crypto";
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { importJWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import * as z from "zod";
import { configuration } from "../../infra/variables.ts";
import { hashed } from "../../shared/hash.ts";
import { sealedWith } from "../../shared/tokens/sealed-subscription.ts";
import { privateJwk } from "../../shared/tokens/token.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { sharedService } from "./service.ts";

const answerBody = z.json();

/** A response of the service with its body parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: z.output<typeof answerBody>;
}

interface Call {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text or bytes already. */
  readonly body?: unknown;
}

/** Sends one request to the local service. */
export async function call(path: string, { method, token, headers, body }: Call = {}): Promise<Answer> {
  const response = await fetch(`${sharedService.url}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined
      ? {}
      : { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return await answerOf(response);
}

/** A caller nobody else uses, and what it sends with a token of a scope. */
export function someCaller(scope: string) {
  const client = crypto.randomUUID();
  const send = async (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> => {
    const token = await tokenWith({ scope, sub: client, client_id: client });
    return await call(path, { method, token, headers, ...(body === undefined ? {} : { body }) });
  };
  return { client, caller: hashed(client), send };
}

/** A response whose body is read: parsed if it is JSON, otherwise its text. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /\bjson\b/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? answerBody.parse(JSON.parse(text)) : text,
  };
}

/** The signing key of the running service. */
async function readSigningKey() {
  const { AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint, SIGNING_KEY_SECRET_ARN } =
    sharedService.loginEnvironment;
  const client = new SecretsManagerClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    region: "eu-west-1",
    credentials: embeddedCredentials,
  });
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: SIGNING_KEY_SECRET_ARN }));
  const jwk = privateJwk.parse(JSON.parse(SecretString ?? ""));
  return { kid: jwk.kid, key: await importJWK(jwk, "ES256") };
}

let signingKey: ReturnType<typeof readSigningKey> | undefined;

/** Claims of a valid 2-legged token of a new caller. */
export function claimsOf(client: string, now = Date.now()): JWTPayload {
  const issuedAt = Math.floor(now / 1_000);
  return {
    iss: configuration.TOKEN_ISSUER.default,
    aud: configuration.TOKEN_AUDIENCE.default,
    sub: client,
    client_id: client,
    scope: "qos-profiles:read",
    iat: issuedAt,
    exp: issuedAt + 600,
    jti: crypto.randomUUID(),
  };
}

/** The key that seals subscriptions in the tokens of a service, made if it has none yet. */
export async function sealKeyOf(database: DynamoDBClient, TableName: string): Promise<string> {
  const use = { S: "token-subjects" };
  const made = { use, key: { S: randomBytes(32).toString("base64url") } };
  const ConditionExpression = "attribute_not_exists(#use)";
  const names = { "#use": "use" };
  await database
    .send(new PutItemCommand({ TableName, Item: made, ConditionExpression, ExpressionAttributeNames: names }))
    .catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    });
  const { Item } = await database.send(new GetItemCommand({ TableName, Key: { use }, ConsistentRead: true }));
  return Item?.key?.S ?? "";
}

/** Claims of ours with their subscription sealed, as the service issues them. */
export function withSealedSubscription(
  claims: Readonly<Record<string, unknown>>,
  sealKey: string,
): Readonly<Record<string, unknown>> {
  if (typeof claims.subscription !== "string" || claims.subscription === "") return claims;
  return { ...claims, subscription: sealedWith(sealKey, claims.subscription, String(claims.jti)) };
}

let sharedSealKey: Promise<string> | undefined;

/** The seal key of the shared service. */
function readSharedSealKey(): Promise<string> {
  const { databaseEndpoint: endpoint, tableNames } = sharedService;
  const database = new DynamoDBClient({ endpoint, region: "eu-west-1", credentials: embeddedCredentials });
  return sealKeyOf(database, tableNames.TABLE_PSEUDONYM_KEYS ?? "");
}

/** Signs claims with the service's own key; `undefined` removes a claim or a header member. */
export async function tokenWith(
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  signingKey ??= readSigningKey();
  const { kid, key } = await signingKey;
  sharedSealKey ??= readSharedSealKey();
  const payload = present(
    withSealedSubscription({ ...claimsOf(crypto.randomUUID()), ...claims }, await sharedSealKey),
  );
  const protectedHeader = present({ alg: "ES256", typ: "at+jwt", kid, ...header });
  return await new SignJWT(payload as JWTPayload)
    .setProtectedHeader(protectedHeader as JWTHeaderParameters)
    .sign(key);
}

function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
