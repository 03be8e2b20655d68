/** A login. Its token is in memory alone: it ends with the page. */
export interface Login {
  readonly token: string;
  readonly username: string;
}

/** An error as the API says it. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let login: Login | undefined;
const listeners = new Set<(login: Login | undefined) => void>();

/** Who is logged in. */
export function currentLogin(): Login | undefined {
  return login;
}

/** Calls back now, and whenever somebody logs in or out. */
export function onLogin(listener: (login: Login | undefined) => void): void {
  listeners.add(listener);
  listener(login);
}

/** Forgets the token. */
export function logOut(): void {
  setLogin(undefined);
}

function setLogin(next: Login | undefined): void {
  login = next;
  for (const listener of listeners) listener(login);
}

/** @throws {ApiProblem} when the login is refused. */
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

/** The address of a path of the API, on the stage that this page is from. */
export function apiUrl(path: string): string {
  return new URL(path, document.baseURI).href;
}

/**
 * Calls the API with the token. A token that is not accepted any more is forgotten.
 * @throws {ApiProblem} with what the API says.
 */
export async function call(
  path: string,
  { accept = "application/json", ...options }: RequestInit & { readonly accept?: string } = {},
): Promise<Response> {
  try {
    return await send(path, {
      ...options,
      headers: { authorization: `Bearer ${login?.token ?? ""}`, accept },
    });
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) logOut();
    throw error;
  }
}

async function send(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path), { ...options, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiProblem(0, "UNREACHABLE", "The service cannot be reached.");
  }
  if (response.ok) return response;
  const text = await response.text();
  throw problemOf(response.status, text);
}

function problemOf(status: number, text: string): ApiProblem {
  try {
    const { code, message } = JSON.parse(text) as { readonly code?: unknown; readonly message?: unknown };
    if (typeof code === "string" && typeof message === "string") return new ApiProblem(status, code, message);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new ApiProblem(status, String(status), `The service answered with status ${status}.`);
}
