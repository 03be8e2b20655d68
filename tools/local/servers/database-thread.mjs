/**
 * The thread of the embedded DynamoDB: it sends its port to the thread that started it, and exits at any
 * message. If its data name a folder, the tables are kept there.
 * A thread of its own keeps large batches away from the gateway's event loop.
 */
import { parentPort, workerData } from "node:worker_threads";
import { databaseServer } from "./database-requests.mjs";
import { prepareStore } from "./database-store.mjs";

parentPort?.on("message", () => process.exit());
const opened = prepareStore(workerData?.folder);
const server = databaseServer();
await opened();
// A client that uses an idle connection once more does not find it closed just then, as after Node's five seconds.
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address().port));
