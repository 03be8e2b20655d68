import { createServer } from "node:http";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import type { LocalBackend } from "../../tools/local/service.ts";
import { idOf, type StartedSample, startSample } from "./started-sample.ts";

let service: StartedSample;
let secrets: SecretsManagerClient;
let database: DynamoDBClient;
let beforeListening: LocalBackend | undefined;

beforeAll(async () => {
  service = await startSample({
    environment: { LIMIT: "99", ADDED: "yes", PRIVATE: "of the shell", AWS_ACCESS_KEY_ID: "real" },
    configuration: ["LIMIT", "ADDED", "UNSET"],
    extraEnvironment: { EXTRA: "1" },
    beforeListening: async (backend) => {
      beforeListening = backend;
    },
  });
  const aws = { region: "eu-west-1", credentials: embeddedCredentials };
  secrets = new SecretsManagerClient({ ...aws, endpoint: service.secretsEndpoint });
  database = new DynamoDBClient({ ...aws, endpoint: service.databaseEndpoint });
});
afterAll(() => service.close());

const sampleId = () => idOf(service, "SampleFunction");
const arnOf = (id: string) => service.template.secrets.find(({ logicalId }) => logicalId.startsWith(id))?.arn;

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

test("functions without reserved concurrency share what the account has left, and refuse an event beyond it at once", async () => {
  const limited = await startAgain({ accountExecutions: 2 });
  const shared = idOf(limited, "SampleFunction");
  const reserved = idOf(limited, "ReservedFunction");
  const throttled = { errorType: "TooManyRequestsException" };
  const first = limited.invoke(shared, { do: "sleep" });
  await expect(limited.invoke(shared, {})).rejects.toMatchObject(throttled);
  await expect(limited.stream(shared, {})).rejects.toMatchObject(throttled);
  await expect(limited.invoke(reserved, {})).resolves.toMatchObject({ count: 1 });
  await first;
  await expect(limited.invoke(shared, {})).resolves.toMatchObject({ count: 2 });
});

test("a function's environment has the template's variables and only the configuration of the shell", async () => {
  const reported = await service.invoke(sampleId(), {});
  const [table] = service.template.tables;
  expect(reported).toMatchObject({
    environment: {
      TABLE: table?.name,
      TABLE_ARN: `arn:aws:dynamodb:eu-west-1:000000000000:table/${table?.name}`,
      SECRET: arnOf("Secret"),
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

test("an event with its own environment runs in a thread of its own", async () => {
  const plain = await service.invoke(sampleId(), {});
  const changed = await service.invoke(sampleId(), {}, { environment: { LIMIT: "1" } });
  expect(changed).toMatchObject({ environment: { LIMIT: "1", ADDED: "yes" }, count: 1 });
  expect(plain).toMatchObject({ environment: { LIMIT: "99" } });
  expect(await service.invoke(sampleId(), {})).toMatchObject({ environment: { LIMIT: "99" } });
});

test("a function gets the Lambda context, and event and result are passed as JSON", async () => {
  const reported = await service.invoke(sampleId(), { kept: 1, absent: undefined });
  expect(reported).toMatchObject({
    event: { kept: 1 },
    context: {
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      functionName: sampleId(),
      functionVersion: "$LATEST",
      invokedFunctionArn: `arn:aws:lambda:eu-west-1:000000000000:function:${sampleId()}`,
      memoryLimitInMB: "128",
    },
    remaining: expect.toSatisfy((milliseconds: number) => milliseconds > 500 && milliseconds <= 2_000),
  });
  expect(reported).not.toHaveProperty("event.absent");
  expect(reported).not.toHaveProperty("absent");
});

test("a failed invocation rejects with the error type that Lambda reports", async () => {
  await expect(service.invoke(sampleId(), { do: "throw" })).rejects.toMatchObject({
    errorType: "TypeError",
    message: "a secret of the inside",
  });
  await expect(service.invoke(sampleId(), { do: "exit" })).rejects.toMatchObject({
    errorType: "Runtime.ExitError",
  });
  await expect(service.invoke(sampleId(), { do: "block" })).rejects.toMatchObject({
    message: "Task timed out after 2.00 seconds",
  });
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

test("a secret with a rotation schedule has been rotated before the port opens", async () => {
  expect(beforeListening?.secretsEndpoint).toBe(service.secretsEndpoint);
  const SecretId = arnOf("Rotated");
  const current = await secrets.send(new GetSecretValueCommand({ SecretId }));
  expect(current.SecretString).toBe("rotated");
  const previous = await secrets.send(new GetSecretValueCommand({ SecretId, VersionStage: "AWSPREVIOUS" }));
  expect(previous.SecretString).toMatch(/^.{32}$/);
  const described = await secrets.send(new DescribeSecretCommand({ SecretId }));
  expect(described.RotationEnabled).toBe(true);
  expect(described.VersionIdsToStages?.[current.VersionId ?? ""]).toContain("AWSCURRENT");
});

test("the local service fails to start with the number of a port that is in use", async () => {
  const taken = await listen(createServer(), 0);
  const port = Number(new URL(taken.url).port);
  await expect(startAgain({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is already in use`);
  await taken.close();
});

test("the local service closes what it has started when its start fails", async () => {
  let backend: LocalBackend | undefined;
  const failing = startAgain({
    environment: {},
    beforeListening: async (started) => {
      backend = started;
      throw new Error("no data");
    },
  });
  await expect(failing).rejects.toThrow("no data");
  await expect(fetch(backend?.databaseEndpoint ?? "")).rejects.toThrow();
  await expect(fetch(backend?.secretsEndpoint ?? "")).rejects.toThrow();
  await expect(backend?.invoke(sampleId(), {})).rejects.toThrow("stopping");
});

test("the local service closes within 2 s, aborting open requests, and may be closed twice", async () => {
  const other = await startAgain({ environment: {} });
  await (await fetch(`${other.url}/things`)).text();
  const underWay = fetch(`${other.url}/things?do=hang`).catch(() => "cut");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const startedAt = performance.now();
  await Promise.all([other.close(), other.close()]);
  expect(performance.now() - startedAt).toBeLessThan(2000);
  expect(await underWay).toBe("cut");
  await expect(fetch(other.url)).rejects.toThrow();
});
