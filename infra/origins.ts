/** The origins whose web pages may use the API (docs/decisions/0002), and the one rule that tells them from others. */

const port = String.raw`[1-9]\d{0,4}`;
const onInternet = `https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::${port})?`;
const onThisMachine = String.raw`http://(?:localhost|127\.0\.0\.1)(?::(?:${port}|\*))?`;

/** A page on the internet is served by https; one on this machine may be served by http, from any port for `:*`. */
const originForm = new RegExp(`^(?:${onInternet}|${onThisMachine})$`);

/** API Gateway has the whole list in a template on every path. */
const maxOrigins = 20;

/** The origins of a list separated by commas; `undefined` when one is malformed, or there are too many. */
export function parseOrigins(list: string): readonly string[] | undefined {
  if (list === "") return [];
  const origins = list.split(",").map((origin) => origin.trim());
  return origins.length <= maxOrigins && origins.every((origin) => originForm.test(origin))
    ? origins
    : undefined;
}

/**
 * A regular expression that a whole origin must match. It works alike in JavaScript and in API Gateway's mapping
 * templates (Java), and has no backslash, which the templates treat differently.
 */
export function originsPattern(origins: readonly string[]): string {
  return origins.map((origin) => origin.replaceAll(".", "[.]").replace(/:\*$/, "(?::[0-9]{1,5})?")).join("|");
}
