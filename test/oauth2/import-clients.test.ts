import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jwtBearer } from "../../functions/oauth2/rules.ts";
import { importKinds } from "../../tools/import/data-folder.ts";
import { importFile } from "../../tools/import/import-file.ts";
import { useTables } from "../support/database.ts";

let folder: string;
beforeAll(async () => {
  useTables();
  folder = await mkdtemp(join(tmpdir(), "clients-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function importing(...records: readonly object[]): Promise<number> {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  await writeFile(path, JSON.stringify(records));
  return await importFile(importKinds.clients, path);
}

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const publicKey = pair.publicKey.export({ format: "jwk" });
const shortRsa = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ format: "jwk" });
const longRsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({ format: "jwk" });

const good = {
  clientId: "import-shop",
  jwks: { keys: [publicKey] },
  scopes: ["qos-profiles:read"],
  grants: ["client_credentials", jwtBearer],
  purposes: ["dpv:Marketing"],
};
const { jwks: _, ...withoutKeys } = good;

test("ncs import clients stores a client, and replaces it with its next keys", async () => {
  const keys = [
    { ...publicKey, kid: "old" },
    { ...publicKey, kid: "new" },
  ];
  await importing(good);
  await importing({ ...good, jwks: { keys } });

  const { findClient } = await import("../../functions/oauth2/store.ts");
  expect(await findClient("import-shop", AbortSignal.timeout(60_000))).toEqual({ ...good, jwks: { keys } });
});

test.each([
  ["a private key", { jwks: { keys: [pair.privateKey.export({ format: "jwk" })] } }, /jwks\.keys\[?\.?0/],
  ["a secret", { jwks: { keys: [{ kty: "oct", k: "c2VjcmV0" }] } }, /jwks/],
  ["a short RSA key", { jwks: { keys: [shortRsa] } }, /2048/],
  ["an RSA key of exponent 1", { jwks: { keys: [{ ...longRsa, e: "AQ" }] } }, /exponent of 65537 or more/],
  ["an RSA key of an even exponent", { jwks: { keys: [{ ...longRsa, e: "AQAC" }] } }, /an odd exponent/],
  ["a key that is none", { jwks: { keys: [{ kty: "EC", crv: "P-256", x: "AA", y: "AA" }] } }, /jwks/],
  ["no keys", { jwks: { keys: [] } }, /jwks/],
  [
    "two keys of one name",
    {
      jwks: {
        keys: [
          { ...publicKey, kid: "a" },
          { ...publicKey, kid: "a" },
        ],
      },
    },
    /same kid/,
  ],
  ["keys and their address", { jwksUri: "https://keys.example.com/jwks" }, /either jwks or jwksUri/],
  ["an unknown scope", { scopes: ["qos-profiles:write"] }, /unknown scope/],
  ["an unknown grant", { grants: ["password"] }, /grants/],
  ["no purpose for subscribers' tokens", { purposes: [] }, /needs a purpose/],
  ["another purpose", { purposes: ["marketing"] }, /purposes/],
  ["the id of a login", { clientId: "1000" }, /clientId/],
  ["an id with a space", { clientId: "https://issuer.example shop" }, /clientId/],
])("ncs import clients refuses a client with %s", async (_, changed, message) => {
  await expect(importing({ ...good, ...changed })).rejects.toThrow(message);
});

test.each([["http://keys.example.com/jwks"], ["https://10.0.0.1/jwks"], ["https://localhost.internal/jwks"]])(
  "ncs import clients refuses keys at %s",
  async (jwksUri) => {
    await expect(importing({ ...withoutKeys, jwksUri })).rejects.toThrow(/jwksUri/);
  },
);
