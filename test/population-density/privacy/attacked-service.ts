import * as z from "zod";
import type { Ask } from "./attack.ts";

const login = z.object({ Data: z.object({ access_token: z.string() }) });
const callMilliseconds = 30_000;

/** Logs in to a service with the demo data. */
export async function askAt(url: string): Promise<Ask> {
  const post = async (path: string, body: unknown, headers = {}): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(callMilliseconds),
    });
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
    return await response.json();
  };
  const credentials = { emailaddress: "app@example.com", password: "correct horse battery staple" };
  const { Data } = login.parse(await post("/v3/profile/authenticate", credentials));
  const authorization = `Bearer ${Data.access_token}`;
  return (body) => post("/populationdensitydata/retrieve", body, { authorization });
}
