import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, expect, test } from "vitest";
import * as z from "zod";
import { densityCallers } from "../../../functions/population-density/callers/tables.ts";
import type { FunctionId } from "../../../infra/functions.ts";
import { hashed } from "../../../shared/hash.ts";
import { tableVariable } from "../../../shared/table.ts";
import { readDeclarations } from "../../../tools/local/declared/declarations.ts";
import { functionEnvironment } from "../../../tools/local/lambda/function-environment.ts";
import { embeddedCredentials } from "../../../tools/local/servers/backing-server.ts";
import { bundleVariables } from "../../../tools/made-bundles.ts";
import { type Invoked, type Reader, RuntimeClient } from "../../../tools/runtime-client.ts";
import { hoursToCome } from "../../support/areas.ts";
import { busyMachine } from "../../support/busy-machine.ts";
import { authorizerContext, eventOf } from "../../support/pipeline.ts";
import { isInCi } from "../../support/sample.ts";
import { sharedBundles, sharedService } from "../../support/service.ts";

const started: RuntimeClient[] = [];
afterAll(() => Promise.all(started.map((client) => client.close())));

async function start(environment: Readonly<Record<string, string>>): Promise<RuntimeClient> {
  const client = new RuntimeClient();
  started.push(client);
  await client.start(environment);
  return client;
}

const gzip = { "accept-encoding": "gzip" };

const { functions } = readDeclarations({});

/** Starts the bundle of a function of the service, with the tables of the started one. */
async function startFunction(id: FunctionId, own: Record<string, string> = {}): Promise<RuntimeClient> {
  const declared = functions.find((one) => one.id === id) ?? expect.fail(id);
  const environment = functionEnvironment(declared, {
    databaseEndpoint: sharedService.databaseEndpoint,
    secretsEndpoint: sharedService.url,
    queueEndpoint: sharedService.queueEndpoint,
    queueUrls: new Map(),
    credentials: embeddedCredentials,
    shell: {},
    extra: { ...busyMachine, DENSITY_SYNC_LIMIT: "2000000", ...own },
  });
  return await start({ ...environment, ...bundleVariables(await sharedBundles(), id) });
}

interface Asked {
  readonly client?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks for the demo city at some hours: 0.6 MB of JSON each. */
function densityEvent(hours: number, { client: caller = crypto.randomUUID(), headers = {} }: Asked = {}) {
  const [south, west, degrees] = [45.7, 4.8, 0.099];
  const body = {
    area: {
      areaType: "POLYGON",
      boundary: [
        { latitude: south, longitude: west },
        { latitude: south + degrees, longitude: west },
        { latitude: south + degrees, longitude: west + degrees },
        { latitude: south, longitude: west + degrees },
      ],
    },
    ...hoursToCome(hours),
    precision: 7,
  };
  const authorizer = authorizerContext({ scope: "population-density-data:read", client: caller });
  return eventOf({ body: JSON.stringify(body), authorizer, headers });
}

const database = new DynamoDBClient({
  region: "eu-west-1",
  credentials: embeddedCredentials,
  endpoint: sharedService.databaseEndpoint,
});
afterAll(() => database.destroy());

/** The large answers that a caller is being sent. */
async function largeAnswersOf(caller: string): Promise<readonly string[]> {
  const { Item } = await database.send(
    new GetItemCommand({
      TableName: sharedService.tableNames[tableVariable(densityCallers)],
      Key: { caller: { S: `${hashed(caller)}/streams` } },
    }),
  );
  return Item?.streams?.SS ?? [];
}

/** Status and body of a streamed response. */
function responseIn({ streamed }: Invoked) {
  const end = streamed.indexOf(Buffer.alloc(8));
  const { statusCode, headers } = JSON.parse(streamed.subarray(0, end).toString());
  const sent = streamed.subarray(end + 8);
  const body = headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
  return { statusCode, body: JSON.parse(body.toString()) };
}

/** The lines of log with an id. */
const lines = (client: RuntimeClient, id: string) =>
  client.output
    .split("\n")
    .filter((line) => line.includes(`"${id}"`))
    .map((line) => JSON.parse(line));

/** Never ends, for a reader: the test's end does. */
const forever = new Promise<void>(() => {});

/** Reads so much, and then waits each time. */
const pacedReader =
  (bytes: number, milliseconds: number): Reader =>
  async (response, keep) => {
    let unpaused = 0;
    for await (const chunk of response) {
      keep(chunk);
      unpaused += chunk.length;
      if (unpaused < bytes) continue;
      unpaused = 0;
      await wait(milliseconds);
    }
  };

/** Readers that do not read a response to its end. */
const badReaders: Readonly<Record<string, Reader>> = {
  "reads too slowly": pacedReader(1, 2_000),
  "reads nothing": () => forever,
  "stops reading": async (response) => {
    await once(response, "data");
    response.pause();
    await forever;
  },
  "vanishes at once": async (response) => {
    response.destroy();
    await forever;
  },
  "stops reading, and vanishes": async (response) => {
    await once(response, "data");
    response.pause();
    await wait(500);
    response.destroy();
    await forever;
  },
};

const startDensities = () => startFunction("population-density/retrieve");

const densitiesAnswerNext = async (client: RuntimeClient) => {
  for (const headers of [{}, gzip]) {
    const next = await client.invoke(densityEvent(1, { headers }));
    expect(next).toMatchObject({ isWhole: true, errorType: undefined });
    expect(responseIn(next)).toMatchObject({ statusCode: 200, body: { status: "SUPPORTED_AREA" } });
  }
};

test("the density function on AWS's runtime client answers whole, as JSON and compressed, to readers who read at once or steadily", async () => {
  const client = await startDensities();
  for (const read of [undefined, pacedReader(1_048_576, 50)]) {
    for (const headers of [{}, gzip]) {
      const invoked = await client.invoke(densityEvent(12, { headers }), read === undefined ? {} : { read });
      expect(invoked).toMatchObject({ isWhole: true, errorType: undefined });
      expect(responseIn(invoked).body.timedPopulationDensityData).toHaveLength(12);
    }
  }
  await densitiesAnswerNext(client);
  expect(lines(client, "NCS-001").map(({ status, code }) => [status, code])).toEqual(
    Array(6).fill([200, undefined]),
  );
});

// Those who wait do so until the time for a body is over. JSON fills the buffers of a socket, a small compressed answer
// fits into them.
const wanted = Object.entries(badReaders).filter(([how]) => isInCi || how.includes("vanishes"));
const json = wanted.map(([how, read]) => ["JSON", how, { read, hours: 24, headers: {} }] as const);
const compressed = wanted
  .filter(([how]) => how === "reads nothing" || how === "vanishes at once")
  .map(([how, read]) => ["a small compressed answer", how, { read, hours: 2, headers: gzip }] as const);
test.concurrent.each([...json, ...compressed])(
  "the density function on AWS's runtime client gives up a reader of %s who %s, and serves the next",
  async (_what, _how, asked) => {
    const { read, hours, headers } = asked;
    const client = await startDensities();
    await densitiesAnswerNext(client);
    const caller = crypto.randomUUID();
    const event = densityEvent(hours, { client: caller, headers });
    const cut = await client.invoke(event, { read, remainingMilliseconds: 9_000 });
    expect(cut.isWhole).toBe(false);
    expect(lines(client, "NCS-006")).toHaveLength(1);
    expect(lines(client, "NCS-002")).toEqual([]);
    const reported = lines(client, "NCS-001").at(-1);
    expect(reported).toMatchObject({ status: 200, code: "TIMEOUT", bytes: expect.any(Number) });
    expect(client.output.match(/Invoke Error.*/g)).toEqual([expect.stringContaining("CallerTooSlow")]);
    expect(await largeAnswersOf(caller)).toEqual([]);
    await densitiesAnswerNext(client);
  },
);

const whole = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  isBase64Encoded: z.boolean(),
});

test("a streamed function of sam local on AWS's runtime client returns its responses whole, compressed ones as base64, because sam local does not stream", async () => {
  const client = await startFunction("population-density/retrieve", { AWS_SAM_LOCAL: "true" });
  const ask = async (event: unknown) => whole.parse((await client.invoke(event)).result);
  const plain = await ask(densityEvent(1));
  const compressed = await ask(densityEvent(1, { headers: gzip }));
  const refused = await ask(eventOf({ body: "{}", authorizer: authorizerContext() }));

  expect(plain).toMatchObject({ statusCode: 200, isBase64Encoded: false });
  expect(JSON.parse(plain.body)).toMatchObject({ status: "SUPPORTED_AREA" });
  expect(compressed).toMatchObject({ isBase64Encoded: true, headers: { "content-encoding": "gzip" } });
  expect(gunzipSync(Buffer.from(compressed.body, "base64")).toString()).toBe(plain.body);
  expect(refused).toMatchObject({ statusCode: 403, isBase64Encoded: false });
  expect(lines(client, "NCS-001").map(({ status }) => status)).toEqual([200, 200, 403]);
});

test("a buffered function on AWS's runtime client answers, also with errors, and serves the next", async () => {
  const client = await startFunction("qos-profiles/retrieve");
  const ask = (body: string) => client.invoke(eventOf({ body, authorizer: authorizerContext() }));
  expect((await ask("{}")).result).toMatchObject({ statusCode: 200 });
  expect((await ask("[]")).result).toMatchObject({ statusCode: 400 });
  expect(await client.invoke(null)).toMatchObject({ errorType: expect.stringMatching(/Error$/) });
  expect((await ask("{}")).result).toMatchObject({ statusCode: 200 });
  expect((await ask("{}")).result).toMatchObject({ statusCode: 200 });
});
