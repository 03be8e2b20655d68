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
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createTables, openDatabase } from "../../tools/local/servers/database.ts";
import { createQueues, openQueueServer, queueClient } from "../../tools/local/servers/queue-server.ts";
import type { LocalTable } from "../../tools/local/template/tables.ts";
import { canMount, withMounted } from "../support/mounted.ts";
import { runs } from "../support/sample.ts";
import { localQueue } from "./use-queue-server.ts";

let folder: TemporaryFolder;
const closing: (() => Promise<void> | void)[] = [];
beforeEach(() => {
  folder = temporaryFolder("kept-servers-");
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  folder.remove();
});

const queues = [
  localQueue("jobs", {
    visibilitySeconds: 600,
    redrive: { deadLetterLogicalId: "dead", maxReceiveCount: 1 },
  }),
  localQueue("dead", { visibilitySeconds: 600 }),
];

/** Opens the queues of the folder. The server is closed without being asked to save first. */
async function openQueues() {
  const server = await openQueueServer(undefined, { folder: folder.path });
  const client = queueClient(server.endpoint, embeddedCredentials);
  const urls = await createQueues(server.endpoint, embeddedCredentials, queues);
  const close = async () => {
    client.destroy();
    await server.close();
  };
  closing.push(close);
  const receive = async (name: string) => {
    const QueueUrl = urls.get(name);
    const options = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: ["All" as const] };
    return (await client.send(new ReceiveMessageCommand({ QueueUrl, ...options }))).Messages ?? [];
  };
  return { close, client, QueueUrl: urls.get("jobs"), receive };
}

test("the embedded SQS keeps deleted and hidden messages back after a restart and keeps dead letters", async () => {
  const { client, QueueUrl, receive, close } = await openQueues();
  for (const MessageBody of ["deleted", "hidden", "shown again"]) {
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  }
  const [deleted, , shown] = await receive("jobs");
  await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: deleted?.ReceiptHandle }));
  const { ReceiptHandle } = shown ?? {};
  await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  await close();

  const after = await openQueues();

  // The second receive makes the visible message a dead letter, which another restart keeps.
  expect(await after.receive("jobs")).toEqual([]);
  await after.close();
  const later = await openQueues();
  expect(await later.receive("dead")).toMatchObject([
    { Body: "shown again", Attributes: { ApproximateReceiveCount: "3" } },
  ]);
});

/** A table with an index that has some of its attributes. */
const table: LocalTable = {
  logicalId: "Jobs",
  name: "jobs",
  definition: {
    AttributeDefinitions: ["id", "state"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    GlobalSecondaryIndexes: [
      {
        IndexName: "by-state",
        KeySchema: [{ AttributeName: "state", KeyType: "HASH" }],
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["turn"] },
      },
    ],
    BillingMode: "PAY_PER_REQUEST",
  },
};

function databaseClient(endpoint: string): DynamoDBClient {
  const client = new DynamoDBClient({
    endpoint,
    region: "eu-west-1",
    credentials: embeddedCredentials,
    maxAttempts: 1,
  });
  closing.push(() => client.destroy());
  return client;
}

async function openTables(declared = [table]): Promise<DynamoDBClient> {
  const server = await openDatabase(undefined, { folder: folder.path });
  closing.push(() => server.close());
  await createTables(server.endpoint, embeddedCredentials, declared);
  return databaseClient(server.endpoint);
}

async function closeAll(): Promise<void> {
  for (const close of closing.splice(0)) await close();
}

const module = new URL("../../tools/local/servers/database.ts", import.meta.url).href;

/** A program that serves the tables of a folder until it is killed. */
const program = `
const [, module, folder] = process.argv;
const { openDatabase } = await import(module);
const { endpoint } = await openDatabase(undefined, { folder });
console.log(endpoint);
`;

test("npm start --keep refuses a table that exists with other indexes", async () => {
  await openTables();
  await closeAll();
  const GlobalSecondaryIndexes = table.definition.GlobalSecondaryIndexes?.map((index) => ({
    ...index,
    IndexName: "by-other",
  }));

  const opening = openTables([{ ...table, definition: { ...table.definition, GlobalSecondaryIndexes } }]);

  await expect(opening).rejects.toThrow("Table jobs has other keys or indexes");
});

test("the embedded DynamoDB has indexes that match its items after it was killed during writes", async () => {
  await openTables();
  await closeAll();
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  for (let kill = 0; kill < runs(10, 2); kill++) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, module, folder.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [endpoint] = await once(child.stdout, "data");
    const client = databaseClient(String(endpoint).trim());
    const ended = once(child, "exit");
    let turns = 0;
    const write = async (id: string) => {
      for (let turn = 0; ; turn++) {
        const command = new UpdateItemCommand({
          TableName: "jobs",
          Key: { id: { S: id } },
          UpdateExpression: "SET #state = :state, turn = :turn",
          ExpressionAttributeNames: { "#state": "state" },
          ExpressionAttributeValues: { ":state": { S: `state-${turn % 3}` }, ":turn": { N: `${turn}` } },
        });
        await client.send(command);
        if (++turns === 200) child.kill("SIGKILL");
      }
    };
    await Promise.allSettled(ids.map(write));
    await ended;

    const after = await openTables();

    const items: Record<string, AttributeValue>[] = [];
    for await (const { Items = [] } of paginateScan({ client: after }, { TableName: "jobs" })) {
      items.push(...Items);
    }
    const indexed: Record<string, AttributeValue>[] = [];
    for (const state of ["state-0", "state-1", "state-2"]) {
      const command = new QueryCommand({
        TableName: "jobs",
        IndexName: "by-state",
        KeyConditionExpression: "#state = :state",
        ExpressionAttributeNames: { "#state": "state" },
        ExpressionAttributeValues: { ":state": { S: state } },
      });
      indexed.push(...((await after.send(command)).Items ?? []));
    }
    const byId = (one: Record<string, AttributeValue>, other: Record<string, AttributeValue>) =>
      Number(one.id?.S) - Number(other.id?.S);
    expect(items).toHaveLength(ids.length);
    expect(indexed.sort(byId)).toEqual(items.sort(byId));
    await closeAll();
  }
});

const queueModule = new URL("../../tools/local/servers/queue-server.ts", import.meta.url).href;

/** A program that stores one thing after the other until its server tells that it is broken. */
const filling = (opened: string, store: string) => `
const [, module, queueModule, folder] = process.argv;
const onBroken = ({ message }) => {
  console.log("broken: " + message);
  process.exit(1);
};
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const text = "x".repeat(100_000);
${opened}
for (let id = 0; id < 1_000; id++) await ${store}.catch(() => undefined);
console.log("nothing happened");
`;

const fillings = {
  DynamoDB: filling(
    `
const { openDatabase, createTables } = await import(module);
const { DynamoDBClient, PutItemCommand } = await import("@aws-sdk/client-dynamodb");
const { endpoint } = await openDatabase(undefined, { folder, onBroken });
await createTables(endpoint, credentials, [${JSON.stringify(table)}]);
const client = new DynamoDBClient({ endpoint, region: "eu-west-1", credentials, maxAttempts: 1 });`,
    'client.send(new PutItemCommand({ TableName: "jobs", Item: { id: { S: String(id) }, text: { S: text } } }))',
  ),
  SQS: filling(
    `
const { openQueueServer, createQueues, queueClient } = await import(queueModule);
const { SendMessageCommand } = await import("@aws-sdk/client-sqs");
const { endpoint } = await openQueueServer(undefined, { folder, onBroken });
const client = queueClient(endpoint, credentials);
const QueueUrl = (await createQueues(endpoint, credentials, ${JSON.stringify(queues)})).get("jobs");`,
    "client.send(new SendMessageCommand({ QueueUrl, MessageBody: text }))",
  ),
};

test.runIf(canMount).each(Object.entries(fillings))(
  "the embedded %s says that it is broken when the disk of its folder is full",
  async (_, source) => {
    const run = 'exec "$0" --input-type=module -e "$1" "$2" "$3" "$4"';
    const { code, stdout } = await withMounted(folder.path, "size=1m", run, [
      process.execPath,
      source,
      module,
      queueModule,
      folder.path,
    ]);
    expect(stdout).toMatch(/broken: .*No space left on device\n$/);
    expect(code).toBe(1);
  },
);
