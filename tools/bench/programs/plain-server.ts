/** The comparison for `npm start`: parses each request and sends the answer that its first message has. */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod";
import { listen } from "../../local/servers/listening-server.ts";

process.once("message", async (message) => {
  const { answer } = z.object({ answer: z.unknown() }).parse(message);
  const server = createServer(async (request, response) => {
    await json(request);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  const { url } = await listen(server, 0);
  process.send?.(url);
});
