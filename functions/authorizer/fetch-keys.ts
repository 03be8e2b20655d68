import { readDocument } from "../../shared/sinks/read-document.ts";
import { type Jwks, jwks } from "./key-set.ts";

/** The time-out of a fetch of keys, response body included. */
export const fetchTimeoutMilliseconds = 2_000;
const maximumBytes = 256 * 1024;

/** Some firewalls refuse a request without a `User-Agent`, and `fetch` sends this one. */
const headers = { accept: "application/jwk-set+json, application/json", "user-agent": "node" };

/**
 * Fetches an issuer's keys from its configured address, never from one that a token names.
 *
 * Time and size are limited. Redirects are not followed: only the configured address is trusted.
 */
export async function fetchKeys(address: string): Promise<Jwks> {
  const { protocol } = new URL(address);
  const { request } = await (protocol === "https:" ? import("node:https") : import("node:http"));
  const ending = new AbortController();
  const timer = setTimeout(
    () => ending.abort(new DOMException("The key server did not answer in time", "TimeoutError")),
    fetchTimeoutMilliseconds,
  );
  try {
    // Each with a connection of its own: one that is kept open may be gone when its environment thaws.
    const asked = request(address, { headers, agent: false });
    const body = await readDocument(asked, maximumBytes, ending.signal);
    // Skips a byte order mark.
    return jwks.parse(JSON.parse(new TextDecoder().decode(body)));
  } finally {
    clearTimeout(timer);
  }
}
