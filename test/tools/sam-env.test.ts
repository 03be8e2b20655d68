import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outputNames, queueOutput } from "../../infra/output-names.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { runNcs } from "../support/ncs.ts";
import { sharedService } from "../support/service.ts";

const queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs";
const secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key-AbCdEf";

let folder: string;
let outputs: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sam-env-"));
  outputs = join(folder, "dev.json");
  const stack = { [queueOutput("density-jobs")]: queue, [outputNames.signingKey]: secret };
  await writeFile(
    outputs,
    JSON.stringify({ "NetworkCapabilities-dev": stack, "NetworkCapabilities-dev-data": {} }),
  );
});
afterAll(() => rm(folder, { recursive: true }));

const samEnv = (...args: string[]) =>
  runNcs(["sam-env", "--outputs", outputs, "--assembly", sharedService.assembly, ...args]);

async function environmentOf(name: string, ...args: string[]): Promise<Record<string, string>> {
  const { stdout, stderr } = await samEnv(...args);
  expect(stderr).toBe("");
  const all: Record<string, Record<string, string>> = JSON.parse(stdout);
  const [, found] = Object.entries(all).find(([id]) => new RegExp(`^${name}[0-9A-F]{8}$`).test(id)) ?? [];
  return found ?? {};
}

describe("the file for `sam local invoke --env-vars`", () => {
  test("has exactly the variables of the template, of every function by its logical id", async () => {
    const { stdout } = await samEnv();
    const named = Object.entries<Record<string, string>>(JSON.parse(stdout)).map(([id, variables]) => [
      id,
      Object.keys(variables).sort(),
    ]);
    const declared = loadTemplate(sharedService.assembly).functions.map(({ logicalId, environment }) => [
      logicalId,
      Object.keys(environment).sort(),
    ]);
    expect(named).toEqual(declared);
  });

  test("has what SAM cannot know of the template: the address of a queue and the ARN of the secret", async () => {
    expect(await environmentOf("PopulationDensityRetrieve")).toMatchObject({ QUEUE_DENSITY_JOBS: queue });
    expect(await environmentOf("ProfileAuthenticate")).toMatchObject({ SIGNING_KEY_SECRET_ARN: secret });
    expect(await environmentOf("KeysPublish")).toMatchObject({
      TABLE_SIGNING_KEYS: "NetworkCapabilities-dev-signing-keys",
    });
  });

  test("changes the variables that a fault changes, of the functions that have them", async () => {
    const fault = ["--fault", "too-many-requests"];
    expect(await environmentOf("QosProfilesRetrieve", ...fault)).toMatchObject({
      RATE_LIMIT_PER_MINUTE: "0",
    });
    const login = await environmentOf("ProfileAuthenticate", ...fault);
    expect(login).toMatchObject({ LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE: "0" });
    expect(login).not.toHaveProperty("RATE_LIMIT_PER_MINUTE");
  });

  test("changes every table under the fault that is about tables", async () => {
    const changed = await environmentOf("NumberRecyclingCheck", "--fault", "internal");
    expect(changed).toMatchObject({ TABLE_NUMBER_ASSIGNMENTS: "", TABLE_DEVICES: "" });
  });

  test.each([
    [
      "unavailable",
      "AWS_ENDPOINT_URL_DYNAMODB is not in the template, so SAM ignores it: use npm run invoke",
    ],
    ["permission-denied", "this fault changes the event: npm run invoke -- <event> --fault <name> --print"],
    ["none", "no fault none; there are internal, invalid-argument, "],
  ])("is not made under the fault %s, and says what to do", async (fault, message) => {
    const { code, stderr } = await samEnv("--fault", fault);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});
