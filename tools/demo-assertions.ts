import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { decodeJwt, decodeProtectedHeader, importJWK, type JWK, errors as joseErrors, SignJWT } from "jose";
import { maxAssertionSeconds } from "../functions/oauth2/limits.ts";

const keyFile = new URL("./demo/client-key.json", import.meta.url);

/** The members of a form that hold assertions. */
const members = ["assertion", "client_assertion"];

/**
 * A form in which each assertion that the demo's key has signed is signed again, as one is valid for minutes and accepted
 * once. Everything else stays as it is.
 */
export async function withFreshAssertions(form: string, now: Date): Promise<string> {
  const parameters = new URLSearchParams(form);
  const key: JWK = JSON.parse(await readFile(keyFile, "utf8"));
  for (const member of members) {
    const claims = claimsSignedBy(key, parameters.get(member) ?? "");
    if (claims === undefined) continue;
    const seconds = Math.floor(now.getTime() / 1_000);
    const assertion = new SignJWT({
      ...claims,
      iat: seconds,
      exp: seconds + maxAssertionSeconds,
      jti: randomUUID(),
    }).setProtectedHeader({ alg: String(key.alg), kid: String(key.kid) });
    parameters.set(member, await assertion.sign(await importJWK(key)));
  }
  return parameters.toString();
}

/** The claims of a JWT that names a key; undefined for any other text. */
function claimsSignedBy({ kid }: JWK, text: string) {
  try {
    return decodeProtectedHeader(text).kid === kid ? decodeJwt(text) : undefined;
  } catch (error) {
    if (error instanceof joseErrors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}
