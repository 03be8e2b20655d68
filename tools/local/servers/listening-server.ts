import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:http";

/** An HTTP server that accepts requests on the loopback address. */
export interface ListeningServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** Closes open connections, too. */
  close(): Promise<void>;
}

const inUse = (port: number) =>
  `Port ${port} of 127.0.0.1 is already in use: stop the program that uses it, or choose another port, as in --port 0`;

/**
 * Opens a port of 127.0.0.1; 0 chooses a free one.
 * @throws {Error} saying so if the port is in use.
 */
export function listen(server: Server, port: number): Promise<ListeningServer> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      reject(isTaken ? new Error(inUse(port), { cause: error }) : error);
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : port;
      resolve({ url: `http://127.0.0.1:${bound}`, close: () => close(server) });
    });
  });
}

/**
 * Checks that a port of 127.0.0.1 is free; 0 always is.
 * @throws {Error} saying what to do if it is not.
 */
export async function requireFreePort(port: number): Promise<void> {
  if (port === 0) return;
  const probe = await listen(createServer(), port);
  await probe.close();
}

/** Systems give a connection, or a server without a wish, a port above these: 32,768 on Linux, 49,152 elsewhere. */
const unassignedPorts = [10_000, 32_768] as const;
const maxAttempts = 20;

/** For 0, a port of 127.0.0.1 that is free and that nobody is assigned meanwhile; any other port as it is. */
export async function chosenPort(port: number): Promise<number> {
  if (port !== 0) return port;
  for (let attempt = 1; ; attempt++) {
    const candidate = randomInt(...unassignedPorts);
    const isFree = await requireFreePort(candidate).then(
      () => true,
      () => false,
    );
    if (isFree || attempt === maxAttempts) return candidate;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}
