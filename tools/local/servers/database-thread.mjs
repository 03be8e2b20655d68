/**
 * The thread of the embedded DynamoDB: it posts its port to the thread that started it. If
 * `workerData` names a folder, the tables are stored there. Its own thread keeps large batches off the gateway's event
 * loop.
 */
import { parentPort, workerData } from "node:worker_threads";
import { databaseServer } from "./database-requests.mjs";
import { prepareStore } from "./database-store.mjs";

// By default, Node.js allocates the bytes of small items 64 KiB at a time, and one item that stays keeps all of them.
Buffer.poolSize = 0;
const opened = prepareStore(workerData.folder);
const server = databaseServer(workerData.allowedHosts);
await opened();
// Node.js would close idle connections after five seconds, possibly just as a client reuses one.
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address().port));
