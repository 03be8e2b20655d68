import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import * as z from "zod";
import { clientKeys } from "../../functions/oauth2/tables.ts";
import { demoLogins } from "../demo-logins.ts";
import type { ImportKind } from "./import-file.ts";

/**
 * The same kind of file, which refuses records with a password or a public key of the demo data under any name:
 * everybody knows the passwords, and the private key of the first client.
 * @param message why such a record is refused.
 */
export function withoutDemo(kind: ImportKind<z.ZodType>, message: string): ImportKind<z.ZodType> {
  const schema = kind.schema.superRefine((record, context) => {
    for (const field of demoFieldsIn(record)) context.addIssue({ code: "custom", path: [field], message });
  });
  return { ...kind, schema };
}

const credentials = z.object({ password: z.unknown(), jwks: z.unknown() }).partial();

function demoFieldsIn(record: unknown): readonly ("password" | "jwks")[] {
  const { password, jwks } = credentials.safeParse(record).data ?? {};
  const keys = clientKeys.safeParse(jwks).data?.keys ?? [];
  const isDemoLogin = demoLogins().some((login) => login.password === password);
  const isDemoClient = keys.some((key) => demoKeys().has(spkiOf(key)));
  return [...(isDemoLogin ? (["password"] as const) : []), ...(isDemoClient ? (["jwks"] as const) : [])];
}

function demoKeys(): ReadonlySet<string> {
  const text = readFileSync(new URL("../demo/clients.json", import.meta.url), "utf8");
  const clients = z.array(z.object({ jwks: clientKeys })).parse(JSON.parse(text));
  return new Set(clients.flatMap(({ jwks }) => jwks.keys.map(spkiOf)));
}

/** One text for each key, however its JWK is written. */
function spkiOf(key: Readonly<Record<string, unknown>>): string {
  return createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "der" }).toString("base64");
}
