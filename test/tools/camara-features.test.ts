/** CAMARA's own feature files, which are no part of the project: without them these tests are skipped, and say so. */
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt, importJWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { tokenOf } from "../../tools/cli/login.ts";
import { announce } from "../../tools/local/running-service.ts";
import { parseFeatures } from "../../tools/verify/features/parse-features.ts";
import { openSurroundings, verifyFeatures } from "../../tools/verify/features/run-scenarios.ts";
import { camaraRelease } from "../support/camara-release.ts";
import { checkOutcomes } from "../support/check-steps.ts";
import { demoLogin } from "../support/demo-login.ts";
import { serveExamples } from "../support/example-server.ts";
import { spawnNcs } from "../support/ncs.ts";
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

describe.skipIf(!isThere)("CAMARA's features", { timeout: 300_000 }, () => {
  const temporary = temporaryFolder("camara-features-");
  const plan = join(temporary.path, "plan.json");
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService(
      {
        RATE_LIMIT_PER_MINUTE: "400",
        SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
        SINK_RETRY_SECONDS: "1",
      },
      { hasDemoData: true, isIssuer: true },
    );
    announce(service, false);
    const folder = "tools/verify/demo-plan";
    for (const kind of ["devices", "profiles"]) {
      const port = new URL(service.url).port;
      const imported = await spawnNcs(["import", kind, `${folder}/${kind}.json`, "--local", port]);
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

  test("every Then step of CAMARA's features fails for a wrong answer", async () => {
    const surroundings = await openSurroundings({ url: service.url, features, definitions, plan });
    const checked = new Set<string>();
    try {
      for (const scenario of await parseFeatures(features)) {
        for (const text of await checkOutcomes(scenario, surroundings)) checked.add(text);
      }
    } finally {
      await surroundings.receiver?.close();
    }
    const all = (await parseFeatures(features)).flatMap(({ steps }) =>
      steps.filter(({ isOutcome }) => isOutcome).map(({ text }) => text),
    );
    expect([...new Set(all)].filter((text) => !checked.has(text))).toEqual([]);
  });

  test("a server that answers with the examples of the definitions fails wherever a refusal is due", async () => {
    const examples = await serveExamples(definitions);
    try {
      const text = await readFile(plan, "utf8");
      const callers = JSON.parse(text).callers as Record<string, object>;
      const withToken = Object.entries(callers).map(([name, caller]) => [
        name,
        { ...caller, from: { token: "a" } },
      ]);
      const open = join(temporary.path, "open.json");
      await writeFile(open, JSON.stringify({ ...JSON.parse(text), callers: Object.fromEntries(withToken) }));
      const { outcomes } = await verifyFeatures({ url: examples.url, features, definitions, plan: open });
      const passed = outcomes.filter(({ failure }) => failure === undefined).map(({ name }) => name);
      const refusals = (await parseFeatures(features))
        .filter(({ steps }) => steps.some(({ text }) => /status code is "?4/.test(text)))
        .map(({ name }) => name);
      expect(passed.filter((name) => refusals.includes(name))).toEqual([]);
      // These four ask for no more than the form of an answer, and for nothing that is not in it.
      const isOfDevice = (name: string) => name.startsWith("device-identifier-");
      expect(passed.filter((name) => !isOfDevice(name)).map((name) => name.split("/")[1])).toEqual([
        "population_density_data_06_custom_precision_success_scenario",
        "qos_profiles_retrieveQoSProfiles_01_generic_success_scenario",
        "qos_profiles_retrieveQoSProfiles_03_filter_by_status_only example 1",
        "qos_profiles_retrieveQoSProfiles_05_not_return_restricted_profiles",
      ]);
      expect(passed.filter((name) => /retrieve(?:Identifier|PPID)/.test(name))).toEqual([]);
    } finally {
      await examples.close();
    }
  });
});
