import createFetchClient from "openapi-fetch";
import type { ClientOptions } from "./client.ts";
import type { Credentials, paths } from "./schema.d.ts";
import { ServiceError } from "./service-error.ts";

/** Whose login it is, and where. */
export interface LoginOptions extends Credentials, Omit<ClientOptions, "token"> {}

/** A token is renewed so long before it expires: longer than a request takes. */
const marginMilliseconds = 30_000;

/**
 * Logs in when a token is first asked for, and again before it expires. Requests at the same time share a login.
 * @returns what gives the token; it rejects with a {@link ServiceError} when the login is refused.
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
    // Whoever is first after the token became too old, or its login failed, logs in for all.
    if (current === shared) current = logIn();
    return (await (current as NonNullable<typeof current>)).token;
  };
}

/** From the token itself, whatever this machine's clock shows. */
function lifetimeMilliseconds(token: string): number {
  const payload = token.split(".")[1] ?? "";
  const { iat, exp } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return (exp - iat) * 1_000;
}
