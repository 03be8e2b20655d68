import { createHash, createHmac } from "node:crypto";

/** The part of a message that is signed with its body. */
interface Message {
  /** The same in every attempt. */
  readonly id: string;
  /** Time of the attempt, in seconds since 1970. */
  readonly timestamp: string;
}

/** The headers that prove who sent a body. */
interface SignatureHeaders {
  /** Of Standard Webhooks, with one signature for each secret. */
  readonly "webhook-signature": string;
  /** RFC 9530. */
  readonly "content-digest": string;
}

/** The signature of a body that is read once. */
export interface Signature {
  readonly update: (chunk: Buffer) => void;
  /** Call it once, after the last chunk. */
  readonly headers: () => SignatureHeaders | undefined;
}

/**
 * Begins to sign a body.
 * @param secrets `whsec_` and the key in base64; without any, there are no headers, and nothing is hashed.
 */
export function beginSignature({ id, timestamp }: Message, secrets: readonly string[]): Signature {
  if (secrets.length === 0) return { update: () => {}, headers: () => undefined };
  const digest = createHash("sha256");
  const signatures = secrets.map((secret) =>
    createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.`),
  );
  return {
    update: (chunk) => {
      for (const hash of [digest, ...signatures]) hash.update(chunk);
    },
    headers: () => ({
      "webhook-signature": signatures.map((signature) => `v1,${signature.digest("base64")}`).join(" "),
      "content-digest": `sha-256=:${digest.digest("base64")}:`,
    }),
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}
