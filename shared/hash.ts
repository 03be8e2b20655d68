import { createHash } from "node:crypto";

/**
 * A short, stable replacement for a value that must not be stored or logged: SHA-256, base64url.
 * It is not a secret: a guessed value can be checked against it.
 */
export function hashed(value: string): string {
  return createHash("sha256").update(value).digest("base64url");
}
