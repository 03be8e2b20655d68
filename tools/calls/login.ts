import { send } from "./send.ts";

/** An address and its password. */
export interface Login {
  readonly emailaddress: string;
  readonly password: string;
}

/**
 * Logs in.
 * @throws {Error} with the answer's code, or what to set when nothing answers.
 */
export async function tokenOf(url: string, login: Login): Promise<string> {
  const response = await send(`${url}/v3/profile/authenticate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(login),
  });
  const body: unknown = await response.json().catch(() => undefined);
  const token = (body as { Data?: { access_token?: unknown } } | undefined)?.Data?.access_token;
  if (response.ok && typeof token === "string") return token;
  const code = (body as { code?: unknown } | undefined)?.code;
  throw new Error(
    `${login.emailaddress} cannot log in at ${url}: ${response.status}${typeof code === "string" ? ` ${code}` : ""}`,
  );
}
