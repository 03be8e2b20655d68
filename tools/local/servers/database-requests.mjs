/** The embedded DynamoDB: dynalite, which has no transactions, with TransactWriteItems beside its own operations. */
import { createRequire } from "node:module";
import dynalite from "dynalite";
import { DatabaseTransactions } from "./database-transactions.mjs";
import { SharedLock } from "./shared-lock.mjs";

const transactionTarget = "DynamoDB_20120810.TransactWriteItems";

/** An HTTP server, not listening yet. A transaction runs alone; all other requests run beside each other. */
export function databaseServer() {
  const { server, store } = open();
  const [answerPlain] = server.listeners("request");
  server.removeAllListeners("request");
  const lock = new SharedLock();
  const transactions = new DatabaseTransactions(store);

  server.on("request", (request, response) => {
    if (request.headers["x-amz-target"] === transactionTarget) {
      answerTransaction(request, response, (input) => lock.exclusive(() => transactions.write(input)));
      return;
    }
    void lock.shared(async () => {
      const closed = new Promise((resolve) => response.once("close", resolve));
      answerPlain(request, response);
      // dynalite throws from the error listener of a request whose client has gone, which would end the thread.
      request.removeAllListeners("error");
      request.on("error", () => response.destroy());
      await closed;
    });
  });
  return server;
}

/** dynalite keeps its store to itself, but asks its module of stores for it. */
function open() {
  const stores = createRequire(import.meta.url)("dynalite/db");
  const { create } = stores;
  let store;
  stores.create = (options) => {
    store = create(options);
    return store;
  };
  try {
    const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
    return { server, store };
  } finally {
    stores.create = create;
  }
}

async function answerTransaction(request, response, write) {
  request.on("error", () => response.destroy());
  try {
    const input = JSON.parse(Buffer.concat(await request.toArray()).toString());
    reply(response, 200, await write(input));
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    if (error.body === undefined) {
      reply(response, 500, { __type: "InternalServerError", message: String(error) });
    } else {
      reply(response, error.statusCode, error.body);
    }
  }
}

function reply(response, status, body) {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(body));
}
