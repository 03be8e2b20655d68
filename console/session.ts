/** The session of the logged-in user. Its token is only in memory, so the session ends with the page. */
import { ApiError, send } from "./http.ts";

/** The logged-in user and the access token. */
export interface Login {
  readonly token: string;
  readonly username: string;
}

let login: Login | undefined;
const listeners = new Set<(login: Login | undefined) => void>();

/** The current login; undefined while nobody is logged in. */
export function currentLogin(): Login | undefined {
  return login;
}

/** Calls the listener now, and after every login and logout. */
export function onLoginChange(listener: (login: Login | undefined) => void): void {
  listeners.add(listener);
  listener(login);
}

/** @throws {ApiError} if the login is refused. */
export async function logIn(emailaddress: string, password: string): Promise<void> {
  const response = await send("v3/profile/authenticate", {
    method: "POST",
    body: JSON.stringify({ emailaddress, password }),
  });
  const { Data } = (await response.json()) as {
    readonly Data: { readonly access_token: string; readonly UserProfile: { readonly Username: string } };
  };
  setLogin({ token: Data.access_token, username: Data.UserProfile.Username });
}

/**
 * Uses a token that was issued elsewhere, as to a client with a key. Whether the API accepts it shows at the first request.
 * @returns whether it is a JWT.
 */
export function useToken(token: string): boolean {
  const username = holderOf(token);
  if (username === undefined) return false;
  setLogin({ token, username });
  return true;
}

/** Who a token says it is for; undefined for what is no JWT. */
function holderOf(token: string): string | undefined {
  try {
    const [, payload = ""] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? [];
    const claims = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as {
      readonly client_id?: unknown;
      readonly sub?: unknown;
    };
    return String(claims.client_id ?? claims.sub ?? "the holder of a token");
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return undefined;
    throw error;
  }
}

/** Forgets the token. */
export function logOut(): void {
  setLogin(undefined);
}

function setLogin(next: Login | undefined): void {
  login = next;
  for (const listener of listeners) listener(login);
}

/**
 * Calls the API with the token. A 401 ends the session.
 * @throws {ApiError} with the API's error.
 */
export async function callApi(
  path: string,
  { accept = "application/json", ...options }: RequestInit & { readonly accept?: string } = {},
): Promise<Response> {
  try {
    return await send(path, {
      ...options,
      headers: { authorization: `Bearer ${login?.token ?? ""}`, accept },
    });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) logOut();
    throw error;
  }
}
