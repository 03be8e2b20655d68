import { once } from "node:events";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { densityCallers } from "../../functions/population-density/callers/tables.ts";
import { declaredTable } from "../../tools/local/declared/declared-table.ts";
import { embeddedCredentials as credentials } from "../../tools/local/servers/backing-server.ts";
import { createTables, openDatabase } from "../../tools/local/servers/database.ts";
import { prepareStore } from "../../tools/local/servers/database-store.mjs";

const require = createRequire(import.meta.url);

test("the embedded DynamoDB answers after 100 clients disconnected in the middle of their requests", async () => {
  const { endpoint, close } = await openDatabase(undefined);
  onTestFinished(close);
  await createTables(endpoint, credentials, [declaredTable(densityCallers, "callers")]);
  const { host, hostname, port } = new URL(endpoint);
  const disconnecting = Array.from({ length: 100 }, async () => {
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    // The server has read the head of a request when it asks for the rest.
    socket.write(`POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n`);
    await once(socket, "data");
    socket.destroy();
  });
  await Promise.all(disconnecting);

  const client = new DynamoDBClient({ endpoint, region: "eu-west-1", credentials, maxAttempts: 1 });
  const read = new GetItemCommand({ TableName: "callers", Key: { caller: { S: "a" } } });
  await expect(client.send(read, { abortSignal: AbortSignal.timeout(60_000) })).resolves.toBeDefined();
  client.destroy();
});

test("the store of the embedded DynamoDB closes an iterator whose items were read", async () => {
  const stores = require("dynalite/db");
  const opened = prepareStore();
  const { db } = stores.create({});
  await opened();
  const { values } = db;
  let iterator: { readonly next: () => Promise<unknown> } | undefined;
  db.values = (options: object) => {
    iterator = values.call(db, options);
    return iterator;
  };
  for await (const _ of db.createValueStream({}));
  await expect(iterator?.next()).rejects.toMatchObject({ code: "LEVEL_ITERATOR_NOT_OPEN" });
});
