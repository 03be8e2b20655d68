import { readFileSync } from "node:fs";
import * as z from "zod";

/** A file of logins, as the demo data have one. */
export const loginsSchema = z.array(
  z.object({
    EmailAddress: z.string(),
    password: z.string(),
    Permissions: z.string().default(""),
    subscription: z.string().optional(),
  }),
);

/** A login of the demo data. */
export type DemoLogin = z.output<typeof loginsSchema>[number];

/** The logins of the demo data, whose passwords are no secret; the first one is an application's. */
export function demoLogins(): readonly DemoLogin[] {
  return loginsSchema.parse(
    JSON.parse(readFileSync(new URL("./demo/profiles.json", import.meta.url), "utf8")),
  );
}
