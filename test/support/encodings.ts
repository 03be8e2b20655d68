import { createHash, createHmac } from "node:crypto";

const textual = ["hex", "base64", "base64url"] as const;

/**
 * Everything in which a text could be found again: as it is, percent-encoded, in hexadecimal, within base64 of a longer
 * text, and hashed with and without a key. In lower case, as a search should ignore case.
 */
export function encodingsOf(text: string, key: string): string[] {
  const bytes = Buffer.from(text);
  const hashes = ["md5", "sha1", "sha256", "sha512"].flatMap((algorithm) => [
    createHash(algorithm).update(text).digest(),
    createHmac(algorithm, Buffer.from(key, "base64url")).update(text).digest(),
  ]);
  const all = [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString("hex").replaceAll(/../g, "%$&"),
    bytes.toString("hex"),
    ...within("base64", bytes),
    ...within("base64url", bytes),
    ...hashes.flatMap((hash) => textual.map((encoding) => hash.toString(encoding).replaceAll("=", ""))),
  ];
  return [...new Set(all.map((one) => one.toLowerCase()))];
}

/** What is the same of a text in base64 wherever it begins in a longer text. */
function within(encoding: "base64" | "base64url", bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const complete = Math.floor((whole.length * 8) / 6);
    return whole.toString(encoding).slice(Math.ceil((before * 8) / 6), complete);
  });
}
