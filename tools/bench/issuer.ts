import { createServer } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { configuration } from "../../infra/variables.ts";
import { listen } from "../local/servers/listening-server.ts";

/** An issuer on this machine, whose tokens a service trusts that gets `environment`. */
export interface Issuer {
  readonly environment: Readonly<Record<string, string>>;
  /** A token for density requests of a caller. */
  tokenOf(caller: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens an issuer with a key of its own. */
export async function openIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const header = { alg: "ES256", kid: "bench" };
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), ...header, use: "sig" }] });
  const { url, close } = await listen(
    createServer((_, response) => response.setHeader("content-type", "application/json").end(keys)),
    0,
  );
  const audience = configuration.TOKEN_AUDIENCE.default;
  const trusted = { issuer: url, jwksUri: url, audience, algorithms: ["ES256"], applicationsOnly: true };
  return {
    environment: { TRUSTED_ISSUERS: JSON.stringify([trusted]) },
    tokenOf: async (caller) =>
      await new SignJWT({ client_id: caller, scope: "population-density-data:read" })
        .setProtectedHeader({ ...header, typ: "at+jwt" })
        .setIssuer(url)
        .setAudience(audience)
        .setSubject(caller)
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .setExpirationTime("30m")
        .sign(privateKey),
    close,
  };
}
