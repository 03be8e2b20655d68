/**
 * The thread of the embedded SQS: it sends its port to the thread that started it, and exits at any
 * message.
 * It takes twice as long to load as the embedded DynamoDB; here that happens beside the rest of a start.
 */
import { parentPort } from "node:worker_threads";
import { buildApp } from "fauxqs";

// Not exported, but the only way to correct the behaviour of its queues.
const { SqsStore } = await import(new URL("./sqs/sqsStore.js", import.meta.resolve("fauxqs")).href);

parentPort?.on("message", () => process.exit());
const sqsStore = new SqsStore();

// URLs of queues then contain the requested host, and not one that some machines cannot resolve.
sqsStore.host = undefined;

const app = buildApp({ logger: false, stores: { sqsStore } });
await app.listen({ host: "127.0.0.1", port: 0 });
parentPort?.postMessage(app.server.address().port);
