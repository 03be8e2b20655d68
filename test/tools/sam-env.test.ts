import { beforeAll, expect, test } from "vitest";
import { outputNames, queueOutput } from "../../infra/output-names.ts";
import { readSynthesizedFunctions } from "../../tools/cli/synthesized-functions.ts";
import { readDeclarations } from "../../tools/local/declared/declarations.ts";
import { announce } from "../../tools/local/running-service.ts";
import { sharedFolder } from "../infra/template.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs";
const secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:key-AbCdEf";

const folder = useOwnFolder();
let outputs: string;

beforeAll(async () => {
  const stack = { [queueOutput("density-jobs")]: queue, [outputNames.signingKey]: secret };
  outputs = await folder.write("dev.json", {
    "NetworkCapabilities-dev": stack,
    "NetworkCapabilities-dev-data": {},
  });
});

const assembly = sharedFolder("localDev");
const samEnv = (...args: string[]) =>
  runNcs(["sam-env", "--outputs", outputs, "--assembly", assembly, ...args]);

async function environmentOf(name: string, ...args: string[]): Promise<Record<string, string>> {
  const { stdout, stderr } = await samEnv(...args);
  expect(stderr).toBe("");
  const all: Record<string, Record<string, string>> = JSON.parse(stdout);
  const [, found] = Object.entries(all).find(([id]) => new RegExp(`^${name}[0-9A-F]{8}$`).test(id)) ?? [];
  return found ?? {};
}

test("ncs sam-env prints exactly the variables of every function of the template, by logical id", async () => {
  const { stdout } = await samEnv();
  const named = Object.entries<Record<string, string>>(JSON.parse(stdout)).map(([id, variables]) => [
    id,
    Object.keys(variables).sort(),
  ]);
  const declared = [...(await readSynthesizedFunctions(assembly))].map(([id, variables]) => [
    id,
    Object.keys(variables).sort(),
  ]);
  expect(named).toEqual(declared);
});

test("ncs sam-env prints the URL of a queue and the ARN of a secret from the outputs", async () => {
  expect(await environmentOf("PopulationDensityRetrieve")).toMatchObject({ QUEUE_DENSITY_JOBS: queue });
  expect(await environmentOf("ProfileAuthenticate")).toMatchObject({ SIGNING_KEY_SECRET_ARN: secret });
  expect(await environmentOf("KeysPublish")).toMatchObject({
    TABLE_SIGNING_KEYS: "NetworkCapabilities-dev-signing-keys",
  });
});

test("ncs sam-env --fault changes the variables of the fault in the functions that have them", async () => {
  const fault = ["--fault", "too-many-requests"];
  expect(await environmentOf("QosProfilesRetrieve", ...fault)).toMatchObject({
    RATE_LIMIT_PER_MINUTE: "0",
  });
  const login = await environmentOf("ProfileAuthenticate", ...fault);
  expect(login).toMatchObject({ LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE: "0" });
  expect(login).not.toHaveProperty("RATE_LIMIT_PER_MINUTE");
});

test.each([
  ["unavailable", "AWS_ENDPOINT_URL_DYNAMODB is not in the template, so SAM ignores it: use npm run invoke"],
  ["permission-denied", "this fault changes the event: ncs event <event> --fault <name>"],
  ["none", "no fault none; there are internal, invalid-argument, "],
])("ncs sam-env --fault %s exits with 1 and says what to do instead", async (fault, message) => {
  const { code, stderr } = await samEnv("--fault", fault);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

test("ncs sam-env --local gives containers the tables and server addresses of npm start", async () => {
  const { url, tableNames } = sharedService;
  const environmentOf = () => ({ AWS_ENDPOINT_URL_DYNAMODB: sharedService.databaseEndpoint });
  const declarations = readDeclarations({});
  announce({ url, declarations, tableNames, queueUrls: new Map(), environmentOf }, false);
  const local = ["--local", new URL(url).port, "--assembly", sharedFolder("triedSettings")];
  const { stdout, stderr } = await runNcs(["sam-env", ...local, "--host", "host.docker.internal"]);

  expect(stderr).toBe("");
  const environments: Record<string, Record<string, string>> = JSON.parse(stdout);
  const port = new URL(sharedService.databaseEndpoint).port;
  for (const variables of Object.values(environments)) {
    expect(variables.AWS_ENDPOINT_URL_DYNAMODB).toBe(`http://host.docker.internal:${port}`);
  }
  const names = Object.values(environments).flatMap(({ TABLE_DEVICES = [] }) => TABLE_DEVICES);
  expect(new Set(names)).toEqual(new Set([tableNames.TABLE_DEVICES]));
});
