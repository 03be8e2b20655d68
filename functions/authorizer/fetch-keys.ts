import { type Jwks, jwks } from "./key-set.ts";

/** A fetch of keys takes no longer, with its whole answer. */
export const fetchTimeoutMilliseconds = 2_000;
const maximumBytes = 256 * 1024;

/**
 * Fetches an issuer's keys from its configured address, never from one that a token names.
 *
 * Bounded in time and size, and without redirects: the address is trusted, not wherever it might point.
 */
export async function fetchKeys(address: string): Promise<Jwks> {
  const response = await fetch(address, {
    headers: { accept: "application/jwk-set+json, application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(fetchTimeoutMilliseconds),
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
