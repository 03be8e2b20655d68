import { createHash } from "node:crypto";

/**
 * A short, stable stand-in for a value that must not be written down: SHA-256, base64url.
 * Not a secret: a guessed value can be checked against it.
 */
export function hashed(value: string): string {
  return createHash("sha256").update(value).digest("base64url");
}
