import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { maxAssertionCharacters } from "../../functions/oauth2/limits.ts";
import { logId } from "../../shared/aws/log.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { aroundOf } from "../../tools/local/around.ts";
import { askForToken, claimsFor, clientCredentials, signed, storeClient } from "../oauth2/test-client.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { countingServer, ellipticKey, signedBy, tokenOf } from "../support/signed.ts";

// Wherever strangers' JSON is taken, lists in lists are refused or left out, and end nothing.

/** Lists in lists: more than a recursion can follow. */
const nested = (levels = 32_000) => "[".repeat(levels) + "]".repeat(levels);
const read = "qos-profiles:read";
const key = ellipticKey("good");
const jwk = JSON.stringify(key.jwk);

let service: OwnService;
let keySets: Awaited<ReturnType<typeof countingServer>>;
beforeAll(async () => {
  keySets = await countingServer(({ url }, response) => {
    const keys = url === "/kid" ? `{"kid":${nested()}},${jwk}` : jwk.replace("{", `{"x5c":${nested()},`);
    response.end(`{"keys":[${keys}]}`);
  });
  const issuer = { issuer: "theirs", jwksUri: `${keySets.url}/kid`, audience: "us", algorithms: ["ES256"] };
  service = await startOwnService(
    { TRUSTED_ISSUERS: JSON.stringify([issuer]), SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535" },
    { isIssuer: true },
  );
});
afterAll(async () => {
  await Promise.all([service, keySets].map((server) => server?.close()));
  expect(service.output()).not.toContain(logId("CRASH"));
});

/** Asks with a token of the issuer that publishes a `kid` which is nested. */
async function statusOf(path: string, body: string, scope: string | null, more = "") {
  const claims = `{"iss":"theirs","aud":"us","sub":"app","client_id":"app","scope":"${scope}","exp":9999999999${more}}`;
  const token = tokenOf({ alg: "ES256", kid: key.kid }, claims, signedBy(key));
  return (await service.call(path, { method: "POST", headers: { authorization: `Bearer ${token}` }, body }))
    .status;
}

test("every endpoint that takes a body returns 400 for one that is nested 32,000 deep", async () => {
  const taking = endpoints.filter((endpoint) => "body" in endpoint);
  expect(taking.length).toBeGreaterThan(5);
  for (const { path, scope } of taking)
    expect([path, await statusOf(path, `{"area":${nested()}}`, scope)]).toEqual([path, 400]);
});

test("a trusted issuer's key whose kid is nested 32,000 deep is ignored: tokens of its next key are accepted", async () => {
  for (const more of ["", `,"note":${nested(2_000)}`])
    expect(await statusOf("/qualityondemand/retrieve-qos-profiles", "{}", read, more)).toBe(200);
});

test("a client's key whose x5c is nested 32,000 deep is used, and fetched once for three requests", async () => {
  const before = keySets.requests();
  const jwksUri = `${keySets.url}/x5c`;
  await storeClient(service, { clientId: "app", jwksUri, scopes: [read], grants: ["client_credentials"] });
  for (let request = 0; request < 3; request++) {
    const assertion = await signed(key, claimsFor(service, "app"));
    expect(await askForToken(service, clientCredentials(assertion, read))).toMatchObject({ status: 200 });
  }
  expect(keySets.requests() - before).toBe(1);
});

test("POST /oauth2/token returns 401 for an assertion that is nested as deep as its length allows", async () => {
  const lists = nested(Math.floor(maxAssertionCharacters * 0.36));
  for (const parts of [
    [`{"alg":"ES256","kid":${lists}}`, "{}"],
    ['{"alg":"ES256"}', `{"iss":${lists}}`],
  ]) {
    const assertion = [...parts, ""].map((part) => Buffer.from(part).toString("base64url")).join(".");
    expect(await askForToken(service, clientCredentials(assertion, read))).toMatchObject({ status: 401 });
  }
});

test("--around refuses a file that is nested 32,000 deep, and says so", async () => {
  const folder = temporaryFolder("nested-");
  const file = join(folder.path, "area.json");
  writeFileSync(file, '{"type":"GeometryCollection","geometries":['.repeat(32_000) + "]}".repeat(32_000));
  await expect(aroundOf(file)).rejects.toThrow("area.json: is nested deeper than 32 levels");
  folder.remove();
});
