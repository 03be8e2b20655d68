/**
 * The thread of the embedded DynamoDB: it tells its port to the thread that started it.
 * A thread of its own keeps large batches away from the gateway's event loop.
 */
import { parentPort } from "node:worker_threads";
import dynalite from "dynalite";

const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });

// dynalite throws from the error listener of a request whose client has gone, which would end the thread.
server.on("request", (request, response) => {
  request.removeAllListeners("error");
  request.on("error", () => response.destroy());
});

server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address().port));
