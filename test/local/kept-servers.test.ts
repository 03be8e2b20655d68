import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  type AttributeValue,
  DynamoDBClient,
  paginateScan,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { embeddedCredentials as credentials } from "../../tools/local/servers/backing-server.ts";
import { createTables, openDatabase } from "../../tools/local/servers/database.ts";
import { createQueues, openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";
import { canMount, withMounted } from "../support/mounted.ts";
import { runs } from "../support/sample.ts";
import { localQueue } from "./use-queue-server.ts";

let folder: TemporaryFolder;
const closing: (() => Promise<void> | void)[] = [];
const closeAll = async () => {
  for (const close of closing.splice(0)) await close();
};
beforeEach(() => {
  folder = temporaryFolder("kept-servers-");
});
afterEach(async () => {
  await closeAll();
  folder.remove();
});

const queues = [localQueue("dead", 600), localQueue("jobs", 600, "dead", 1)];

/** Opens the queues of the folder. The server is closed without being asked to save first. */
async function openQueues() {
  const { endpoint, close } = await openQueueServer(undefined, { folder: folder.path });
  const client = queueClient(endpoint, credentials);
  closing.push(close, () => client.destroy());
  const urls: ReadonlyMap<string, string> = await createQueues(endpoint, credentials, queues);
  const receive = async (name: string) => {
    const options = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: ["All" as const] };
    const command = new ReceiveMessageCommand({ QueueUrl: urls.get(name), ...options });
    return (await client.send(command)).Messages ?? [];
  };
  return { client, QueueUrl: urls.get("jobs"), receive };
}

test("the embedded SQS keeps deleted messages back after a restart, shows hidden ones, and keeps dead letters", async () => {
  const { client, QueueUrl, receive } = await openQueues();
  for (const MessageBody of ["deleted", "hidden", "shown again"]) {
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  }
  const [deleted, , shown] = await receive("jobs");
  await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: deleted?.ReceiptHandle }));
  const { ReceiptHandle } = shown ?? {};
  await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  await closeAll();

  // This receive makes both messages dead letters, which another restart keeps.
  expect(await (await openQueues()).receive("jobs")).toEqual([]);
  await closeAll();
  const letters = await (await openQueues()).receive("dead");
  const received = letters.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount]);
  expect(received.sort()).toEqual(["hidden", "shown again"].map((body) => [body, "3"]));
});

const byState = {
  IndexName: "by-state",
  KeySchema: [{ AttributeName: "state", KeyType: "HASH" as const }],
  Projection: { ProjectionType: "INCLUDE" as const, NonKeyAttributes: ["turn"] },
};
/** A table with an index that has some of its attributes. */
const table = {
  TableName: "jobs",
  AttributeDefinitions: ["id", "state"].map((name) => ({ AttributeName: name, AttributeType: "S" as const })),
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" as const }],
  GlobalSecondaryIndexes: [byState],
  BillingMode: "PAY_PER_REQUEST" as const,
};

function databaseClient(endpoint: string): DynamoDBClient {
  const client = new DynamoDBClient({ endpoint, region: "eu-west-1", credentials, maxAttempts: 1 });
  closing.push(() => client.destroy());
  return client;
}

async function openTables(declared = [table]): Promise<DynamoDBClient> {
  const { endpoint, close } = await openDatabase(undefined, { folder: folder.path });
  closing.push(close);
  await createTables(endpoint, credentials, declared);
  return databaseClient(endpoint);
}

test("npm start --keep refuses a table that exists with other indexes", async () => {
  await openTables();
  await closeAll();
  const opening = openTables([{ ...table, GlobalSecondaryIndexes: [{ ...byState, IndexName: "by-other" }] }]);
  await expect(opening).rejects.toThrow("Table jobs has other keys or indexes");
});

const server = (name: string) => new URL(`../../tools/local/servers/${name}.ts`, import.meta.url).href;

/** A program that serves the tables of a folder until it is killed. */
const serving = `
const { openDatabase } = await import(${JSON.stringify(server("database"))});
console.log((await openDatabase(undefined, { folder: process.argv[1] })).endpoint);
`;

const update = (id: string, turn: number) =>
  new UpdateItemCommand({
    TableName: "jobs",
    Key: { id: { S: id } },
    UpdateExpression: "SET #state = :state, turn = :turn",
    ExpressionAttributeNames: { "#state": "state" },
    ExpressionAttributeValues: { ":state": { S: `state-${turn % 3}` }, ":turn": { N: `${turn}` } },
  });

const inState = (state: string) =>
  new QueryCommand({
    TableName: "jobs",
    IndexName: "by-state",
    KeyConditionExpression: "#state = :state",
    ExpressionAttributeNames: { "#state": "state" },
    ExpressionAttributeValues: { ":state": { S: state } },
  });

test("the embedded DynamoDB has indexes that match its items after it was killed during writes", async () => {
  await openTables();
  await closeAll();
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  for (let kill = 0; kill < runs(10, 2); kill++) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", serving, folder.path]);
    const [endpoint] = await once(child.stdout, "data");
    const client = databaseClient(String(endpoint).trim());
    const ended = once(child, "exit");
    let turns = 0;
    const write = async (id: string) => {
      for (let turn = 0; ; turn++) {
        await client.send(update(id, turn));
        if (++turns === 200) child.kill("SIGKILL");
      }
    };
    await Promise.allSettled(ids.map(write));
    await ended;

    const after = await openTables();
    const items: Record<string, AttributeValue>[] = [];
    for await (const page of paginateScan({ client: after }, { TableName: "jobs" }))
      items.push(...(page.Items ?? []));
    const indexed: Record<string, AttributeValue>[] = [];
    for (const state of [0, 1, 2])
      indexed.push(...((await after.send(inState(`state-${state}`))).Items ?? []));
    const sorted = (all: typeof items) => all.sort((one, other) => Number(one.id?.S) - Number(other.id?.S));
    expect(items).toHaveLength(ids.length);
    expect(sorted(indexed)).toEqual(sorted(items));
    await closeAll();
  }
});

/** A program that opens a server on a folder, and stores one thing after the other until it is told of the end. */
const filling = (module: string, opening: string, storing: string) => `
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const onBroken = ({ message }) => {
  console.log("broken: " + message);
  process.exit(1);
};
const options = { folder: process.argv[1], onBroken };
const local = await import(${JSON.stringify(server(module))});
${opening}
const text = "x".repeat(100_000);
for (let id = 0; id < 1_000; id++) await client.send(${storing}).catch(() => undefined);
console.log("nothing happened");
`;

const ofDatabase = `
const { DynamoDBClient, PutItemCommand } = await import("@aws-sdk/client-dynamodb");
const { endpoint } = await local.openDatabase(undefined, options);
await local.createTables(endpoint, credentials, [${JSON.stringify(table)}]);
const client = new DynamoDBClient({ endpoint, region: "eu-west-1", credentials, maxAttempts: 1 });`;
const ofQueues = `
const { SendMessageCommand } = await import("@aws-sdk/client-sqs");
const { endpoint } = await local.openQueueServer(undefined, options);
const client = local.queueClient(endpoint, credentials);
const QueueUrl = (await local.createQueues(endpoint, credentials, ${JSON.stringify(queues)})).get("jobs");`;
const put = 'new PutItemCommand({ TableName: "jobs", Item: { id: { S: String(id) }, text: { S: text } } })';

test.runIf(canMount).each([
  ["DynamoDB", filling("database", ofDatabase, put)],
  ["SQS", filling("queue-server", ofQueues, "new SendMessageCommand({ QueueUrl, MessageBody: text })")],
])("the embedded %s says that it is broken when the disk of its folder is full", async (_, source) => {
  const run = 'exec "$0" --input-type=module -e "$1" "$2"';
  const args = [process.execPath, source, folder.path];
  const { code, stdout } = await withMounted(folder.path, "size=1m", run, args);
  expect(stdout).toMatch(/broken: .*No space left on device\n$/);
  expect(code).toBe(1);
});
