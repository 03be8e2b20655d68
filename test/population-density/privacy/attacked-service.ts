import * as z from "zod";
import type { LocalService } from "../../../tools/local/service.ts";
import type { Ask } from "./attack.ts";

/** The environment variables of the tables of a service on this machine. */
export function tablesOf({ template, environmentOf }: LocalService): Readonly<Record<string, string>> {
  const variables = template.functions.flatMap(({ logicalId }) => Object.entries(environmentOf(logicalId)));
  return Object.fromEntries(variables.filter(([name]) => /^(?:TABLE_|AWS_(?!LAMBDA_))/.test(name)));
}

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
