import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { getOrCreatePseudonymKey, pseudonymKey } from "../pseudonym-keys/key.ts";

/**
 * What our own 3-legged tokens say instead of the subscription: a text that differs in every token, so that clients can
 * neither compare what they know nor notice that a number has a new holder. Only the authorizer opens it.
 *
 * It is the subscription, encrypted and authenticated by AES-256-GCM with a key that belongs to one token: the HMAC of
 * the token's `jti` by the stored key. That key seals one text, so the nonce is constant, and the number of tokens is not
 * limited as it would be with random nonces under one key.
 */

const algorithm = "aes-256-gcm";
const nonce = Buffer.alloc(12);
const tagBytes = 16;
/** Before padding, the length of the subscription in bytes. */
const lengthBytes = 2;
/** Texts are padded to a multiple of this, so that their length does not tell subscriptions apart. */
const blockBytes = 64;

/** The stored key, which never changes. */
let key: string | undefined;

/** Seals a subscription for the token with this `jti`; makes the stored key if there is none. */
export async function sealSubscription(
  subscription: string,
  jti: string,
  signal: AbortSignal,
): Promise<string> {
  key ??= await getOrCreatePseudonymKey("token-subjects", signal);
  return sealedWith(key, subscription, jti);
}

/** Seals a subscription for the token with this `jti` by a stored key. */
export function sealedWith(storedKey: string, subscription: string, jti: string): string {
  const text = Buffer.from(subscription);
  const padded = Buffer.alloc(Math.ceil((lengthBytes + text.length) / blockBytes) * blockBytes);
  padded.writeUInt16BE(text.length);
  text.copy(padded, lengthBytes);
  const cipher = createCipheriv(algorithm, keyOf(jti, storedKey), nonce);
  return Buffer.concat([cipher.update(padded), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

/**
 * Opens what was sealed for the token with this `jti`.
 * @returns `undefined` for a text that was not sealed for it with the stored key.
 * @throws {Unavailable} when the key cannot be read.
 */
export async function openSubscription(
  sealed: string,
  jti: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  key ??= await pseudonymKey("token-subjects", signal);
  return key === undefined ? undefined : openedWith(key, sealed, jti);
}

/** Opens what was sealed for the token with this `jti` by a stored key; `undefined` for any other text. */
export function openedWith(storedKey: string, sealed: string, jti: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, keyOf(jti, storedKey), nonce);
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const padded = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
    return padded.toString("utf8", lengthBytes, lengthBytes + padded.readUInt16BE());
  } catch {
    // The tag is wrong: Node.js has no other error here.
    return undefined;
  }
}

function keyOf(jti: string, storedKey: string): Buffer {
  return createHmac("sha256", Buffer.from(storedKey, "base64url")).update(jti).digest();
}
