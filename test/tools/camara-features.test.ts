/** CAMARA's own feature files, which are no part of the project: without them these tests are skipped, and say so. */
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt, importJWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { tokenOf } from "../../tools/calls/login.ts";
import { announce } from "../../tools/local/running-service.ts";
import { verifyFeatures } from "../../tools/verify/features/steps/run-scenarios.ts";
import { camaraRelease } from "../support/camara-release.ts";
import { demoLogin } from "../support/demo-login.ts";
import { runNcs } from "../support/ncs.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";

const found = camaraRelease();
const isThere = found !== undefined;
const definitions = found ?? "";
const features = join(definitions, "features");
if (!isThere) console.warn("SKIPPED: CAMARA's features were not run: set CAMARA_DEFINITIONS.");

/** The scenarios that fail and why, as the document lists them. */
const [, answered = ""] = readFileSync("docs/camara-features.md", "utf8").split(
  "## What this service answers",
);
const documented = [...answered.matchAll(/^\| `([^`]+)`/gm)].map(([, tag]) => tag);

describe.skipIf(!isThere)("CAMARA's features", () => {
  const temporary = temporaryFolder("camara-features-");
  const plan = join(temporary.path, "plan.json");
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService(
      {
        RATE_LIMIT_PER_MINUTE: "300",
        SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
        SINK_RETRY_SECONDS: "1",
      },
      { hasDemoData: true, isIssuer: true },
    );
    announce(service, false);
    const folder = "tools/verify/demo-plan";
    for (const kind of ["devices", "profiles"]) {
      const port = new URL(service.url).port;
      const imported = await runNcs(["import", kind, `${folder}/${kind}.json`, "--local", port]);
      expect(imported).toMatchObject({ code: 0 });
    }
    const text = await readFile(`${folder}/plan.json`, "utf8");
    const demoPlan = JSON.parse(
      text.replaceAll("../../demo", new URL("../../tools/demo", import.meta.url).pathname),
    );
    await writeFile(plan, JSON.stringify({ ...demoPlan, expiredToken: { token: await expiredToken() } }));
  });
  afterAll(async () => {
    await service?.close();
    temporary.remove();
  });

  /** As the service signed it two hours ago. */
  async function expiredToken(): Promise<string> {
    const key = await service.signingKey();
    const { iat = 0, exp = 0, ...claims } = decodeJwt(await tokenOf(service.url, demoLogin));
    return await new SignJWT({ ...claims, iat: iat - 7_200, exp: exp - 7_200 })
      .setProtectedHeader({ alg: "ES256", kid: key.kid, typ: "at+jwt" })
      .sign(await importJWK(key, "ES256"));
  }

  test("the service passes all scenarios of its operations but the documented ones", async () => {
    const { outcomes, skipped } = await verifyFeatures({ url: service.url, features, definitions, plan });
    expect(skipped).toEqual([]);
    const failed = outcomes.filter(({ failure }) => failure !== undefined);
    const tags = failed.map(({ name }) => name.split(/\/| example /)[1]);
    expect([...new Set(tags)].sort(), JSON.stringify(failed)).toEqual(documented.sort());
    const passed = outcomes.filter(({ failure }) => failure === undefined).map(({ name }) => name);
    // Without the examples of outlines, whose scenarios run once for each.
    expect(new Set(outcomes.map(({ name }) => name.replace(/ example \d+$/, ""))).size).toBe(135);
    expect(passed.length).toBeGreaterThan(140);
  });
});
