import { readFileSync } from "node:fs";
import * as z from "zod";
import { readJsonAs } from "./import/json-file.ts";

const profiles = z.array(
  z.object({
    EmailAddress: z.string(),
    password: z.string(),
    Permissions: z.string().default(""),
    subscription: z.string().optional(),
  }),
);

/** A login of the demo data. */
export type DemoLogin = z.output<typeof profiles>[number];

/** The logins of the demo data, whose passwords are no secret; the first one is an application's. */
export function demoLogins(): readonly DemoLogin[] {
  return profiles.parse(JSON.parse(readFileSync(new URL("./demo/profiles.json", import.meta.url), "utf8")));
}

/** @throws {ImportError} for a file of another form than the demo's own. */
export async function loginsIn(path: string): Promise<readonly DemoLogin[]> {
  return await readJsonAs(profiles, path);
}
