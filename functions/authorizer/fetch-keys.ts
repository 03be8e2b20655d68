import { type Jwks, jwks } from "./key-set.ts";

/** The time-out of a fetch of keys, response body included. */
export const fetchTimeoutMilliseconds = 2_000;
const maximumBytes = 256 * 1024;

/**
 * Fetches an issuer's keys from its configured address, never from one that a token names.
 *
 * Time and size are limited. Redirects are not followed: only the configured address is trusted.
 */
export async function fetchKeys(address: string): Promise<Jwks> {
  const signal = AbortSignal.timeout(fetchTimeoutMilliseconds);
  // On its own, `fetch` of Node.js 20 may lose the signal to the garbage collector, and then waits for a body for ever.
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  return await Promise.race([readKeys(address, signal), late]);
}

async function readKeys(address: string, signal: AbortSignal): Promise<Jwks> {
  const response = await fetch(address, {
    headers: { accept: "application/jwk-set+json, application/json" },
    redirect: "error",
    signal,
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > maximumBytes) throw new Error("key set too large");
    chunks.push(chunk);
  }
  return jwks.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
}
