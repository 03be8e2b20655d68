import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

/** A key pair with the public half as a key set lists it. */
export interface KeyPair {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: { readonly kty: string; readonly [member: string]: unknown };
}

function pairOf(privateKey: KeyObject, kid: string, alg: string): KeyPair {
  const { kty = "", ...members } = createPublicKey(privateKey).export({ format: "jwk" });
  return { kid, privateKey, jwk: { ...members, kty, kid, alg, use: "sig" } };
}

/** A fresh key for ES256. */
export function ellipticKey(kid: string = crypto.randomUUID()): KeyPair {
  return pairOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, kid, "ES256");
}

/** A fresh key for RS256. */
export function rsaKey(kid: string = crypto.randomUUID()): KeyPair {
  return pairOf(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey, kid, "RS256");
}

/**
 * A compact token with exactly this header and payload, valid or not: no library checks them.
 * @param payload JSON text, or a value that is made JSON.
 */
export function tokenOf(header: object, payload: unknown, signature: (signed: string) => Buffer): string {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const signed = [JSON.stringify(header), text].map((part) => Buffer.from(part).toString("base64url"));
  return `${signed.join(".")}.${signature(signed.join(".")).toString("base64url")}`;
}

/** Signs with ES256 or RS256, depending on the key. */
export function signedBy({ privateKey }: KeyPair): (signed: string) => Buffer {
  return (signed) => sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
}

/** Signs with HS256. */
export function hmacWith(secret: string | Buffer): (signed: string) => Buffer {
  return (signed) => createHmac("sha256", secret).update(signed).digest();
}

/** A server on this machine that counts its requests. */
export async function countingServer(
  answer: RequestListener,
): Promise<ListeningServer & { readonly requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    answer(request, response);
  });
  return { ...(await listen(server, 0)), requests: () => requests };
}

/** A server that counts its requests, and is closed after the test that opens it. */
export async function serverOfTest(answer: RequestListener): ReturnType<typeof countingServer> {
  const server = await countingServer(answer);
  onTestFinished(() => server.close());
  return server;
}
