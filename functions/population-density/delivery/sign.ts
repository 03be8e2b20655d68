import { createHash, createHmac } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

/** The part of a message that is signed with its body. */
interface Message {
  /** The same in every attempt. */
  readonly id: string;
  /** Time of the attempt, in seconds since 1970. */
  readonly timestamp: string;
  readonly body: AsyncIterable<Buffer>;
}

/**
 * The headers that prove who sent a body: `webhook-signature` of Standard Webhooks, with one signature for each secret,
 * and `content-digest` (RFC 9530). Reads the whole body, and keeps none of it.
 * @param secrets `whsec_` and the key in base64.
 * @param bufferPool receives the chunks that have been read.
 * @throws {Error} named `AbortError` when the signal aborts.
 */
export async function signatureHeaders(
  { id, timestamp, body }: Message,
  secrets: readonly string[],
  bufferPool: Buffer[],
  signal: AbortSignal,
): Promise<{ readonly "webhook-signature": string; readonly "content-digest": string }> {
  const digest = createHash("sha256");
  const signatures = secrets.map((secret) =>
    createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.`),
  );
  for await (const chunk of body) {
    digest.update(chunk);
    for (const signature of signatures) signature.update(chunk);
    bufferPool.push(chunk);
    // Writing a body and hashing it never wait for anything; this lets timers in.
    await nextTurn(undefined, { signal });
  }
  return {
    "webhook-signature": signatures.map((signature) => `v1,${signature.digest("base64")}`).join(" "),
    "content-digest": `sha-256=:${digest.digest("base64")}:`,
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}
