import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { accepted, type TokenRequest } from "../../functions/oauth2/client-authentication.ts";
import { replaceClient } from "../../functions/oauth2/store.ts";
import { clientRecord } from "../../functions/oauth2/tables.ts";
import { useTables } from "../support/database.ts";
import { ellipticKey } from "../support/signed.ts";
import { claimsFor, signed } from "./test-client.ts";

beforeAll(useTables);

test("of two requests that have found an assertion unused at the same time, one is accepted", async () => {
  vi.stubEnv("TOKEN_ISSUER", "https://issuer.test");
  onTestFinished(() => void vi.unstubAllEnvs());
  const signal = AbortSignal.timeout(60_000);
  const key = ellipticKey("meeting-1");
  const clientId = `meeting-${crypto.randomUUID()}`;
  const client = { clientId, jwks: { keys: [key.jwk] }, scopes: [], grants: ["client_credentials"] };
  await replaceClient(clientRecord.parse(client), signal);
  const assertion = await signed(key, claimsFor({ url: "https://issuer.test" }, clientId));
  // Requests are counted after they have looked for an earlier use, and before they use the assertion.
  const bothHaveLooked = Promise.withResolvers<void>();
  let looked = 0;
  const countFor = async () => {
    looked++;
    if (looked === 2) bothHaveLooked.resolve();
    await bothHaveLooked.promise;
  };
  const refuse = (code: string) => new Error(code);
  const request = { body: {}, now: new Date(), signal, refuse, countFor } as unknown as TokenRequest;
  const accept = async () => (await accepted(assertion, "INVALID_CLIENT", request)).client.clientId;

  const results = await Promise.allSettled([accept(), accept()]);

  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(results).toContainEqual({ status: "rejected", reason: new Error("INVALID_CLIENT") });
});
