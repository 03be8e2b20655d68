import { request as startRequest } from "node:http";
import { AttemptAborted, AttemptTimer, defaultLimits } from "./attempt-timer.ts";
import { addressesOf, type ConnectOptions, firstConnected } from "./connection.ts";
import { readDocument } from "./read-document.ts";
import { mayConnect, parseSink } from "./sink-url.ts";
import { userAgent } from "./user-agent.ts";

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
    const request = startRequest({
      path: target.path,
      headers: { host: target.authority, accept: options.accept, "user-agent": userAgent },
      createConnection: () => socket,
      maxHeaderSize: maxHeaderBytes,
    });
    return await timer.within(maxMilliseconds, "OVERTIME", (ending) =>
      readDocument(request, options.maxBytes, ending),
    );
  } finally {
    timer.stop();
  }
}
