import { connect, isIP, type Socket } from "node:net";
import { connect as startTls } from "node:tls";
import { AttemptAborted, type AttemptTimer } from "./attempt-timer.ts";
import { resolveName } from "./resolve-name.ts";
import { mayConnect, type Reach, type Sink } from "./sink-url.ts";

/** Where an attempt may connect to, and how names and certificates are checked. */
export interface ConnectOptions extends Reach {
  /**
   * Resolves a host name to all of its addresses, by default with the machine's name servers; ends when the signal
   * aborts.
   */
  readonly resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** PEM of the authorities to trust instead of Node's own and those of `NODE_EXTRA_CA_CERTS`. */
  readonly ca?: string;
}

export async function addressesOf(
  sink: Sink,
  options: ConnectOptions,
  timer: AttemptTimer,
): Promise<readonly string[] | Error> {
  if (sink.addresses !== undefined) return sink.addresses;
  const { resolve = resolveName } = options;
  const addresses = await timer.within(timer.limits.lookup, "LOOKUP_TIMEOUT", (signal) =>
    resolve(sink.hostname, signal),
  );
  return addresses instanceof Error || addresses.length > 0 ? addresses : new AttemptAborted("NO_ADDRESS");
}

/** Connects to the first of the addresses that accepts a connection. */
export async function firstConnected(
  addresses: readonly string[],
  sink: Sink,
  options: ConnectOptions,
  timer: AttemptTimer,
): Promise<Socket | Error> {
  let last: Error = new AttemptAborted("NO_ADDRESS");
  for (const address of addresses) {
    const socket = await timer.within(timer.limits.connect, "CONNECT_TIMEOUT", (signal) =>
      connected(address, sink, options, signal),
    );
    if (!(socket instanceof Error)) return socket;
    last = socket;
  }
  return last;
}

async function connected(
  address: string,
  sink: Sink,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const { hostname, port, secure } = sink;
  const socket = connect({ host: address, port, noDelay: true });
  signal.addEventListener("abort", () => socket.destroy());
  await opened(socket, "connect");
  if (!mayConnect(socket.remoteAddress ?? "", port, options)) {
    socket.destroy();
    throw new AttemptAborted("REMOTE_ADDRESS");
  }
  if (!secure) return socket;
  const tls = startTls({
    socket,
    // The name that the certificate must have; an address is not sent as server name (RFC 6066 section 3).
    host: hostname,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  await opened(tls, "secureConnect");
  return tls;
}

/**
 * Rejects if the socket fails first. The socket keeps an error listener; without one, an error would end the process.
 */
async function opened(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    socket.on("error", reject);
    socket.once("close", () => reject(new AttemptAborted("CLOSED")));
  });
}
