import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { outputNames, queueOutput } from "../../infra/output-names.ts";
import { loadTemplate } from "../../tools/local/template/template.ts";
import { runNcs } from "../support/ncs.ts";

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
  runNcs(["sam-env", "--outputs", outputs, "--assembly", inject("assembly"), ...args]);

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
    const declared = loadTemplate(inject("assembly")).functions.map(({ logicalId, environment }) => [
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

  test("changes the function of an event as its `.env.json` says, and no other", async () => {
    const event = "events/qos-profiles/retrieve.429-quota-exceeded.json";
    expect(await environmentOf("QosProfilesRetrieve", "--event", event)).toMatchObject({ DAILY_QUOTA: "0" });
    expect(await environmentOf("QosProfilesGetByName", "--event", event)).not.toMatchObject({
      DAILY_QUOTA: "0",
    });
  });

  const changed = readdirSync("events", { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".env.json"),
  );
  test.each(changed)(
    "%s works with SAM exactly when it is not about a table that does not answer",
    async (file) => {
      const event = join("events", file.replace(".env.json", ".json"));
      const { code, stderr } = await samEnv("--event", event);
      expect(code).toBe(file.includes(".503-") ? 1 : 0);
      if (code === 1) expect(stderr).toContain("AWS_ENDPOINT_URL_DYNAMODB is not in the template");
    },
  );
});
