import { createServer } from "node:http";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { idOf, type StartedSample, startSample } from "./started-sample.ts";

let service: StartedSample;
let database: DynamoDBClient;

beforeAll(async () => {
  service = await startSample({
    environment: { LIMIT: "99", ADDED: "yes", PRIVATE: "of the shell", AWS_ACCESS_KEY_ID: "real" },
    configuration: ["LIMIT", "ADDED", "UNSET"],
    extraEnvironment: { EXTRA: "1" },
  });
  const aws = { region: "eu-west-1", credentials: embeddedCredentials };
  database = new DynamoDBClient({ ...aws, endpoint: service.databaseEndpoint });
});
afterAll(() => service.close());

const sampleId = () => idOf(service, "SampleFunction");

/** Starts the stack again until the test is over, on the database of the first service unless other variables are given. */
async function startAgain(options: Parameters<typeof startSample>[0] = {}): Promise<StartedSample> {
  const started = await startSample({
    assembly: service.assembly,
    environment: { AWS_ENDPOINT_URL_DYNAMODB: service.databaseEndpoint },
    ...options,
  });
  onTestFinished(() => started.close());
  return started;
}

test("a function with reserved concurrency refuses an event at once when all its executions are busy", async () => {
  const id = idOf(service, "ReservedFunction");
  const first = service.invoke(id, { do: "sleep" });
  await expect(service.invoke(id, {})).rejects.toMatchObject({ errorType: "TooManyRequestsException" });
  await first;
  await expect(service.invoke(id, {})).resolves.toMatchObject({ count: 2 });
});

test("a function's environment has the template's variables and only the configuration of the shell", async () => {
  const reported = await service.invoke(sampleId(), {});
  const [table] = service.template.tables;
  expect(reported).toMatchObject({
    environment: {
      TABLE: table?.name,
      TABLE_ARN: `arn:aws:dynamodb:eu-west-1:000000000000:table/${table?.name}`,
      SECRET: service.template.secrets[0]?.arn,
      LIMIT: "99",
      ADDED: "yes",
      EXTRA: "1",
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_ENDPOINT_URL_DYNAMODB: service.databaseEndpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: service.secretsEndpoint,
    },
  });
  expect(reported).toHaveProperty("environment", service.environmentOf(sampleId()));
  for (const name of ["PRIVATE", "UNSET", "PATH", "HOME"]) {
    expect(reported).not.toHaveProperty(["environment", name]);
  }
});

test("the local service uses the shell's database with the shell's keys and creates no table there", async () => {
  const environment = {
    AWS_ENDPOINT_URL_DYNAMODB: service.databaseEndpoint,
    AWS_ACCESS_KEY_ID: "mine",
    AWS_SECRET_ACCESS_KEY: "hidden",
  };
  const other = await startAgain({ environment });
  expect(other.databaseEndpoint).toBe(service.databaseEndpoint);
  expect(other.environmentOf(sampleId())).toMatchObject(environment);
  const { TableNames } = await database.send(new ListTablesCommand());
  expect(TableNames).toHaveLength(1);
});

test("the local service fails to start with the number of a port that is in use", async () => {
  const taken = await listen(createServer(), 0);
  const port = Number(new URL(taken.url).port);
  await expect(startAgain({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is already in use`);
  await taken.close();
});

test("the local service closes without waiting for open requests, which it aborts, and may be closed twice", async () => {
  const other = await startAgain({ environment: {} });
  await (await fetch(`${other.url}/things`)).text();
  const underWay = fetch(`${other.url}/things?do=hang`).catch(() => "cut");
  await new Promise((resolve) => setTimeout(resolve, 50));
  await Promise.all([other.close(), other.close()]);
  expect(await underWay).toBe("cut");
  await expect(fetch(other.url)).rejects.toThrow();
});

test("a busy machine's factor is told to the functions of the API and multiplies what the gateway waits", async () => {
  const { environmentOf, url } = await startAgain({ deadlineFactor: 100 });
  expect(environmentOf(idOf(service, "SampleFunction"))).toHaveProperty("DEADLINE_FACTOR", "100");
  expect(service.environmentOf(sampleId())).not.toHaveProperty("DEADLINE_FACTOR");
  const statusOf = async (base: string) => (await fetch(`${base}/brief?do=sleep`)).status;
  expect([await statusOf(service.url), await statusOf(url)]).toEqual([504, 200]);
});
