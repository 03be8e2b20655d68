/**
 * The session of the logged-in user. The browser keeps its token with the tab, so that a reload does not end it, and no
 * longer than the tab. Tabs of the same page share a login while both are open; a logout is for all that share it.
 */
import { type ApiRequest, fetchFrom, send } from "./http.ts";
import { withStorage } from "./storage.ts";
import { type Answer, ApiError } from "./whole-answer.ts";

/** The logged-in user and the access token. */
export interface Login {
  readonly token: string;
  readonly username: string;
}

/** Stages have the same origin and differ in their path. */
const name = `network-capabilities ${new URL(document.baseURI).pathname}`;

/** How long a new tab waits for the login of another one. */
const shareMilliseconds = 150;

/** What tabs tell each other: the question for a login, a login, or the token of one that has ended. */
type TabMessage = { readonly asks: true } | { readonly login: Login } | { readonly ended: string };

const tabs = openChannel();
let login: Login | undefined;
const listeners = new Set<(login: Login | undefined) => void>();

/** Undefined where the user forbids all that pages keep: the session is then the tab's alone, and ends with the page. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

/** The current login; undefined while nobody is logged in. */
export function currentLogin(): Login | undefined {
  return login;
}

/** Calls the listener now, and after every login and logout. */
export function onLoginChange(listener: (login: Login | undefined) => void): void {
  listeners.add(listener);
  listener(login);
}

/** Takes up the login of this tab before its reload, or that of another tab; there may be none. */
export async function restoreSession(): Promise<void> {
  tabs?.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => answerTab(data));
  const kept = keptLogin();
  if (kept !== undefined) {
    setLogin(kept);
    return;
  }
  tell({ asks: true });
  const waiting = new Promise((resolve) => setTimeout(resolve, shareMilliseconds));
  const shared = new Promise((resolve) => listeners.add(resolve));
  await Promise.race([waiting, shared]);
}

function tell(message: TabMessage): void {
  tabs?.postMessage(message);
}

function answerTab(message: TabMessage): void {
  if ("asks" in message) {
    if (login !== undefined) tell({ login });
  } else if ("login" in message) {
    if (login === undefined) setLogin(message.login);
  } else if (message.ended === login?.token) setLogin(undefined);
}

/** @throws {ApiError} if the login is refused. */
export async function logIn(emailaddress: string, password: string): Promise<void> {
  const { json } = await send("v3/profile/authenticate", {
    method: "POST",
    body: JSON.stringify({ emailaddress, password }),
  });
  const { Data } = json as {
    readonly Data: { readonly access_token: string; readonly UserProfile: { readonly Username: string } };
  };
  begin({ token: Data.access_token, username: Data.UserProfile.Username });
}

/**
 * Uses a token that was issued elsewhere, as to a client with a key. Whether the API accepts it shows at the first request.
 * @returns whether it is a JWT.
 */
export function useToken(token: string): boolean {
  const claims = claimsOf(token);
  if (claims === undefined) return false;
  begin({ token, username: String(claims.client_id ?? claims.sub ?? "the holder of a token") });
  return true;
}

interface Claims {
  readonly client_id?: unknown;
  readonly sub?: unknown;
  /** Separated by spaces. */
  readonly scope?: unknown;
}

/** What a token says; undefined for what is no JWT. */
function claimsOf(token: string): Claims | undefined {
  try {
    const [, payload = ""] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? [];
    return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as Claims;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return undefined;
    throw error;
  }
}

/** Forgets the token, in all tabs that have it. */
export function logOut(): void {
  if (login !== undefined) tell({ ended: login.token });
  setLogin(undefined);
}

/** Ends the session whose token was not accepted; does nothing if it has ended, or another one has begun since. */
function endSession(token: string): void {
  if (login?.token === token) logOut();
}

/** Logs in this tab, and tabs that wait for a login. */
function begin(begun: Login): void {
  setLogin(begun);
  tell({ login: begun });
}

function setLogin(next: Login | undefined): void {
  login = next;
  keep(next);
  for (const listener of listeners) listener(login);
}

/**
 * Calls the API with the token. A 401 ends the session of that token.
 * @throws {ApiError} with the API's error.
 */
export async function callApi(path: string, request: ApiRequest = {}): Promise<Answer> {
  const token = login?.token ?? "";
  try {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    return await send(path, { ...request, headers });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) endSession(token);
    throw error;
  }
}

/** Calls the API with the token, and returns a response of any status. A 401 ends the session of that token. */
export async function fetchWithToken(path: string, options: RequestInit): Promise<Answer> {
  const token = login?.token ?? "";
  const headers = { ...options.headers, authorization: `Bearer ${token}` };
  const answer = await fetchFrom(path, { ...options, headers });
  if (answer.status === 401) endSession(token);
  return answer;
}

/** Where a scope leads on this page. */
const placesOfScopes = {
  "population-density-data:": { name: "Density map", href: "./" },
  "qos-profiles:": { name: "QoS profiles", href: "reference#form-retrieveQosProfiles" },
  "number-recycling:": { name: "Number recycling", href: "reference#form-checkNumberRecycling" },
  "device-identifier:": { name: "Device", href: "reference#form-retrieveIdentifier" },
} as const;

/** What the token permits, as far as it says so. */
export function allowedPlaces(): readonly { readonly name: string; readonly href: string }[] {
  const scope = login === undefined ? undefined : claimsOf(login.token)?.scope;
  const scopes = typeof scope === "string" ? scope.split(" ") : [];
  return Object.entries(placesOfScopes)
    .filter(([prefix]) => scopes.some((one) => one.startsWith(prefix)))
    .map(([, place]) => place);
}

/** The login that the tab had before its reload. Whether its token has expired, a 401 says: clocks here may be wrong. */
function keptLogin(): Login | undefined {
  const text = withStorage("sessionStorage", (storage) => storage.getItem(name)) ?? null;
  return text === null ? undefined : (JSON.parse(text) as Login);
}

/** Keeps the login with the tab. Where the user forbids it, the session ends with the page. */
function keep(kept: Login | undefined): void {
  withStorage("sessionStorage", (storage) => {
    if (kept === undefined) storage.removeItem(name);
    else storage.setItem(name, JSON.stringify(kept));
  });
}
