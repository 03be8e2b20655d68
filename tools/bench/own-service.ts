import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { importJWK, SignJWT } from "jose";
import { configuration } from "../../shared/environment.ts";
import { privateJwk } from "../../shared/tokens/token.ts";
import { makeAssembly } from "../assembly.ts";
import { startDemoService } from "../local/demo-service.ts";
import { demoData } from "../local/demo-tables.ts";
import type { LocalService } from "../local/service.ts";

/** Returns a token for density requests of a caller. */
export type TokenOf = (caller: string) => Promise<string>;

/** Lends a local service in this process, with the demo data, whose callers may have 100 pending operations. */
export async function withLocalService<Result>(
  use: (service: LocalService, tokenOf: TokenOf) => Promise<Result>,
): Promise<Result> {
  const { assembly, remove } = await makeAssembly();
  try {
    const service = await startDemoService({
      assembly,
      environment: { DENSITY_PENDING_LIMIT: "100", RATE_LIMIT_PER_MINUTE: "100000", LOG_LEVEL: "ERROR" },
      port: 0,
      data: demoData,
      logs: { write: () => true },
    });
    try {
      return await use(service, await signer(service));
    } finally {
      await service.close();
    }
  } finally {
    remove();
  }
}

async function signer(service: LocalService): Promise<TokenOf> {
  const functions = service.template.functions.map(({ logicalId }) => service.environmentOf(logicalId));
  const SecretId = functions.map(({ SIGNING_KEY_SECRET_ARN }) => SIGNING_KEY_SECRET_ARN).find((arn) => arn);
  const secrets = new SecretsManagerClient({
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    endpoint: service.secretsEndpoint,
  });
  const { SecretString = "" } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  secrets.destroy();
  const { kid, ...jwk } = privateJwk.parse(JSON.parse(SecretString));
  const key = await importJWK(jwk, "ES256");
  return async (client) =>
    await new SignJWT({ client_id: client, scope: "population-density-data:read" })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
      .setIssuer(configuration.TOKEN_ISSUER.default)
      .setAudience(configuration.TOKEN_AUDIENCE.default)
      .setSubject(client)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime("10m")
      .sign(key);
}
