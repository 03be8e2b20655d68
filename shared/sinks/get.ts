import { type IncomingMessage, request as startRequest } from "node:http";
import type { Socket } from "node:net";
import { AttemptAborted, AttemptTimer, defaultLimits } from "./attempt-timer.ts";
import { addressesOf, type ConnectOptions, firstConnected } from "./connection.ts";
import { mayConnect, parseSink } from "./sink-url.ts";

/** What one `get` needs. */
export interface GetOptions extends ConnectOptions {
  readonly url: string;
  /** The media types to ask for. */
  readonly accept: string;
  readonly maxBytes: number;
  /** For all of it, from the look-up of the name to the last byte. */
  readonly maxMilliseconds: number;
  readonly signal?: AbortSignal;
}

const maxHeaderBytes = 16_384;

/**
 * Reads a document from an address that a stranger chose, with the same guards as `post`: the address must be public or
 * allowed, and no proxy, redirect or pooled connection is used.
 * @returns the body of a 200, or the error that came instead; its code is never text from or about the server.
 */
export async function get(options: GetOptions): Promise<Buffer | Error> {
  const { url, maxMilliseconds, signal } = options;
  const timer = new AttemptTimer({ ...defaultLimits, attempt: maxMilliseconds }, signal);
  try {
    const target = parseSink(url, options.allowed);
    if (target === undefined) return new AttemptAborted("SINK");
    const addresses = await addressesOf(target, options, timer);
    if (addresses instanceof Error) return addresses;
    if (!addresses.every((address) => mayConnect(address, target.port, options))) {
      return new AttemptAborted("ADDRESS");
    }
    const socket = await firstConnected(addresses, target, options, timer);
    if (socket instanceof Error) return socket;
    const headers = { host: target.authority, accept: options.accept };
    return await timer.within(maxMilliseconds, "OVERTIME", (ending) =>
      read(socket, target.path, headers, options.maxBytes, ending),
    );
  } finally {
    timer.stop();
  }
}

async function read(
  socket: Socket,
  path: string,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const request = startRequest({
    path,
    headers,
    createConnection: () => socket,
    maxHeaderSize: maxHeaderBytes,
  });
  const end = () => request.destroy(new AttemptAborted("OVERTIME"));
  signal.addEventListener("abort", end);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
      request.end();
    });
    if (response.statusCode !== 200) throw new AttemptAborted(`STATUS_${response.statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new AttemptAborted("TOO_LARGE");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener("abort", end);
    request.destroy();
  }
}
