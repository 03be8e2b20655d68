/** CAMARA's own feature files, which are no part of the project. */
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt, importJWK, SignJWT } from "jose";
import { expect } from "vitest";
import type { PrivateJwk } from "../../shared/tokens/token.ts";
import { tokenOf } from "../../tools/calls/login.ts";
import { announce } from "../../tools/local/running-service.ts";
import type { LocalService } from "../../tools/local/service.ts";
import { verifyFeatures } from "../../tools/verify/features/steps/run-scenarios.ts";
import { demoLogin } from "./demo-login.ts";
import { runNcs } from "./ncs.ts";

/** The configuration with which a service is asked for all scenarios. */
export const featuresConfiguration = {
  RATE_LIMIT_PER_MINUTE: "300",
  SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
  SINK_RETRY_SECONDS: "1",
} as const;

/** The scenarios that fail and why, as the document lists them. */
const [, answered = ""] = readFileSync("docs/camara-features.md", "utf8").split(
  "## What this service answers",
);
const documented = [...answered.matchAll(/^\| `([^`]+)`/gm)].map(([, tag]) => tag);

/**
 * Holds that a service with the demo data, which issues tokens to clients, passes all scenarios of its operations but the
 * documented ones.
 * @param definitions the folder of `camaraRelease`.
 * @param key the signing key of the service.
 * @param folder for the plan.
 */
export async function expectDocumentedFeatures(
  service: LocalService,
  definitions: string,
  key: PrivateJwk,
  folder: string,
): Promise<void> {
  announce(service, false);
  const demo = "tools/verify/demo-plan";
  for (const kind of ["devices", "profiles"]) {
    const port = new URL(service.url).port;
    const imported = await runNcs(["import", kind, `${demo}/${kind}.json`, "--local", port]);
    expect(imported).toMatchObject({ code: 0 });
  }
  const text = await readFile(`${demo}/plan.json`, "utf8");
  const demoPlan = JSON.parse(
    text.replaceAll("../../demo", new URL("../../tools/demo", import.meta.url).pathname),
  );
  const plan = join(folder, "plan.json");
  const token = await expiredToken(service.url, key);
  await writeFile(plan, JSON.stringify({ ...demoPlan, expiredToken: { token } }));
  const features = join(definitions, "features");
  const { outcomes, skipped } = await verifyFeatures({ url: service.url, features, definitions, plan });
  expect(skipped).toEqual([]);
  const failed = outcomes.filter(({ failure }) => failure !== undefined);
  const tags = failed.map(({ name }) => name.split(/\/| example /)[1]);
  expect([...new Set(tags)].sort(), JSON.stringify(failed)).toEqual(documented.sort());
  const passed = outcomes.filter(({ failure }) => failure === undefined).map(({ name }) => name);
  // Without the examples of outlines, whose scenarios run once for each.
  expect(new Set(outcomes.map(({ name }) => name.replace(/ example \d+$/, ""))).size).toBe(135);
  expect(passed.length).toBeGreaterThan(140);
}

/** As the service signed it two hours ago. */
async function expiredToken(url: string, key: PrivateJwk): Promise<string> {
  const { iat = 0, exp = 0, ...claims } = decodeJwt(await tokenOf(url, demoLogin));
  return await new SignJWT({ ...claims, iat: iat - 7_200, exp: exp - 7_200 })
    .setProtectedHeader({ alg: "ES256", kid: key.kid, typ: "at+jwt" })
    .sign(await importJWK(key, "ES256"));
}
