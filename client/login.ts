import createFetchClient from "openapi-fetch";
import type { ClientOptions } from "./client.ts";
import type { Credentials, paths } from "./schema.d.ts";
import { ServiceError } from "./service-error.ts";

/** The credentials, and where to log in. */
export interface LoginOptions extends Credentials, Omit<ClientOptions, "token"> {}

/** How long before its expiry a token is renewed: longer than a request takes. */
const marginMilliseconds = 30_000;

/**
 * Logs in when a token is first needed, and again before it expires. Concurrent requests share a login.
 * @returns a function that returns the token; it rejects with a {@link ServiceError} if the login is refused.
 */
export function login({ baseUrl, fetch, ...credentials }: LoginOptions): () => Promise<string> {
  const client = createFetchClient<paths>({ baseUrl, ...(fetch === undefined ? {} : { fetch }) });
  let current: Promise<{ readonly token: string; readonly renewAt: number }> | undefined;

  const logIn = async () => {
    const sentAt = Date.now();
    const { data, error, response } = await client.POST("/v3/profile/authenticate", { body: credentials });
    if (data === undefined) throw new ServiceError(response, error);
    const token = data.Data.access_token;
    return { token, renewAt: sentAt + lifetimeMilliseconds(token) - marginMilliseconds };
  };

  return async () => {
    const shared = current;
    const known = await shared?.catch(() => undefined);
    if (known !== undefined && Date.now() < known.renewAt) return known.token;
    // The first request after the token became too old, or its login failed, logs in for all.
    if (current === shared) current = logIn();
    return (await (current as NonNullable<typeof current>)).token;
  };
}

/** Computed from the token's own times, so that this machine's clock does not matter. */
function lifetimeMilliseconds(token: string): number {
  const payload = token.split(".")[1] ?? "";
  const { iat, exp } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return (exp - iat) * 1_000;
}
