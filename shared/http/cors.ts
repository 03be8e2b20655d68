import { setting } from "../environment.ts";
import { CORS_ORIGINS } from "../variables/cors-origins.ts";

/**
 * The response headers that a page of another origin may read, in addition to those that every page may
 * (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name).
 */
export const exposedHeaders = [
  "allow",
  "link",
  "location",
  "retry-after",
  "www-authenticate",
  "x-amzn-remapped-www-authenticate",
  "x-area-status",
  "x-correlator",
  "x-density-basis",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
].join(",");

/**
 * Adds the headers that let a page of an allowed origin read the response. If any origins are allowed, the response
 * varies by origin, so that caches do not serve it to pages of other origins.
 */
export function withCors(
  headers: Readonly<Record<string, string>>,
  origin: string | undefined,
): Record<string, string> {
  const origins = setting(CORS_ORIGINS);
  if (origins === "") return headers;
  const vary = headers.vary === undefined ? "origin" : `${headers.vary}, origin`;
  const isAllowed = origin !== undefined && new RegExp(`^(?:${origins})$`).test(origin);
  return {
    ...headers,
    vary,
    ...(isAllowed
      ? { "access-control-allow-origin": origin, "access-control-expose-headers": exposedHeaders }
      : {}),
  };
}
