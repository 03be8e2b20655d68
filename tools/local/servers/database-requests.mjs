/** The embedded DynamoDB: dynalite. It has no transactions, and the service makes none (docs/decisions/0016). */
import dynalite from "dynalite";

/** An HTTP server, not listening yet. */
export function databaseServer() {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const [answer] = server.listeners("request");
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    answer(request, response);
    // dynalite's error listener throws if the client disconnects, which would end the thread.
    request.removeAllListeners("error");
    request.on("error", () => response.destroy());
  });
  return server;
}
