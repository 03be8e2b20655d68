/**
 * The thread of the embedded DynamoDB: it sends its port to the thread that started it, and exits at any
 * message.
 * A thread of its own keeps large batches away from the gateway's event loop.
 */
import { parentPort } from "node:worker_threads";
import { databaseServer } from "./database-requests.mjs";

parentPort?.on("message", () => process.exit());
const server = databaseServer();
// A client that uses an idle connection once more does not find it closed just then, as after Node's five seconds.
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address().port));
