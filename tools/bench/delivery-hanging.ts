import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { defaultLimits } from "../../shared/sinks/attempt-timer.ts";
import type { LogSink } from "../local/lambda/log-sink.ts";
import type { LocalService } from "../local/service.ts";
import { atMost, median, type Row, shown, sized, times } from "./bench.ts";
import { type TokenOf, withLocalService } from "./own-service.ts";
import { type Asked, openSink, requestBody, requestDelivery, type Sink, smallAnswer } from "./sink.ts";

const phases = ["lookup", "connect", "upload", "answer"] as const;
type Phase = (typeof phases)[number];

const hangingPerPhase = sized(25, 1);
const requests = sized(100, 3);
const deliveries = sized(20, 2);
const rounds = sized(3, 1);
const settleMilliseconds = 5_000;

const maxRatio = 1.5;

/** What is measured by `hangingRows`. */
export const aboutHanging = [
  `What ${phases.length * hangingPerPhase} deliveries of another caller cost a caller when their sinks hang: ${hangingPerPhase} each in the look-up of the`,
  "name (its name server is silent), in connecting (nobody speaks TLS), in the upload (nobody reads) and in the answer",
  `(nobody writes). Medians of ${rounds} rounds, over those of the same work just before: ${requests} requests, one after the other;`,
  `${deliveries} deliveries to a sink that takes 30 ms, one after the other and at once. The hanging ones keep half of the`,
  "workers, so the caller has one upload at a time instead of three: a burst to a sink that is slow itself takes longer.",
].join("\n");

/** What hanging deliveries of one caller cost another. */
export async function hangingRows(): Promise<readonly Row[]> {
  const sinks = await openHangingSinks();
  const attempts = new Attempts();
  const environment = { LOG_LEVEL: "INFO" };
  const preload = new URL("programs/use-name-server.mjs", import.meta.url);
  const extraEnvironment = { NODE_OPTIONS: `--import=${preload}`, NAME_SERVER: sinks.nameServer };
  try {
    return await withLocalService(
      { environment, extraEnvironment, logs: attempts },
      async (service, tokenOf) => await measure(service, tokenOf, sinks, attempts),
    );
  } finally {
    sinks.close();
  }
}

async function measure(
  service: LocalService,
  tokenOf: TokenOf,
  sinks: HangingSinks,
  attempts: Attempts,
): Promise<readonly Row[]> {
  const healthy = await openSink(30);
  const token = await tokenOf("healthy");
  try {
    await workload(service, token, healthy);
    const measured: (readonly [Times, Times])[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = await workload(service, token, healthy);
      const hanging = await tokenOf(`hanging-${round}`);
      const operations = await hangAll(service, hanging, sinks, attempts);
      await wait(settleMilliseconds);
      measured.push([before, await workload(service, token, healthy)]);
      await cancelAll(service, hanging, operations);
      // A cancelled operation keeps its worker until a time limit ends its attempt.
      await wait(defaultLimits.attempt + settleMilliseconds);
    }
    const ratio = (of: keyof Times) => median(measured.map(([before, during]) => during[of] / before[of]));
    const row = (what: string, of: keyof Times) =>
      atMost(`${what} during hanging deliveries, over without`, ratio(of), maxRatio, times);
    return [
      shown("attempts that hung", attempts.text()),
      row("a request answered at once", "requestMilliseconds"),
      row("a delivery", "deliveryMilliseconds"),
      row(`${deliveries} deliveries at once`, "burstMilliseconds"),
    ];
  } finally {
    await healthy.close();
  }
}

interface Times {
  /** The median of a request that is answered at once. */
  readonly requestMilliseconds: number;
  /** The median of a delivery while there is no other. */
  readonly deliveryMilliseconds: number;
  /** All of some deliveries at once. */
  readonly burstMilliseconds: number;
}

/** The work of the caller whose sink is healthy. */
async function workload({ url }: LocalService, token: string, sink: Sink): Promise<Times> {
  const request = async () => {
    const response = await fetch(`${url}/populationdensitydata/retrieve`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: requestBody(smallAnswer),
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`answered ${response.status}`);
  };
  const deliver = async () => await sink.delivered(await requestDelivery(url, token, sink));
  return {
    requestMilliseconds: median(await inTurn(requests, request)),
    deliveryMilliseconds: median(await inTurn(deliveries, deliver)),
    burstMilliseconds: await timed(() => Promise.all(Array.from({ length: deliveries }, deliver))),
  };
}

async function inTurn(count: number, run: () => Promise<void>): Promise<number[]> {
  const milliseconds: number[] = [];
  while (milliseconds.length < count) milliseconds.push(await timed(run));
  return milliseconds;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** More than fits into the buffers of a connection. */
const largeAnswer: Asked = {
  boundary: [
    { latitude: 45.701, longitude: 4.801 },
    { latitude: 45.701, longitude: 4.899 },
    { latitude: 45.799, longitude: 4.899 },
    { latitude: 45.799, longitude: 4.801 },
  ],
  hours: 12,
};

/** Requests all deliveries that will hang, each to a host of its own. */
async function hangAll(
  { url }: LocalService,
  token: string,
  sinks: HangingSinks,
  attempts: Attempts,
): Promise<readonly string[]> {
  const indexes = Array.from({ length: hangingPerPhase }, (_, index) => index);
  return await Promise.all(
    indexes.flatMap((index) =>
      phases.map(async (phase) => {
        const sink = { url: sinks.urlOf(phase, index) };
        const asked = phase === "upload" ? largeAnswer : smallAnswer;
        const operationId = await requestDelivery(url, token, sink, asked);
        attempts.expect(operationId, phase);
        return operationId;
      }),
    ),
  );
}

async function cancelAll({ url }: LocalService, token: string, operations: readonly string[]): Promise<void> {
  for (const operationId of operations) {
    const response = await fetch(`${url}/populationdensitydata/operations/${operationId}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`an operation cannot be cancelled: ${response.status}`);
  }
}

/** What ends an attempt that hangs in a phase. */
const causes: Readonly<Record<Phase, readonly string[]>> = {
  lookup: ["LOOKUP_TIMEOUT", "ETIMEOUT"],
  connect: ["CONNECT_TIMEOUT"],
  upload: ["STALLED"],
  answer: ["STALLED"],
};

const attemptLine = z.object({
  id: z.literal("NCS-032"),
  operationId: z.string(),
  cause: z.string().optional(),
});

/** The ends of attempts, as the worker logs them. */
class Attempts implements LogSink {
  readonly #phases = new Map<string, Phase>();
  readonly #ended = new Map<Phase, number>();

  expect(operationId: string, phase: Phase): void {
    this.#phases.set(operationId, phase);
  }

  write(chunk: string | Uint8Array): boolean {
    for (const line of Buffer.from(chunk).toString().split("\n")) {
      if (!line.includes("NCS-032")) continue;
      const { operationId, cause = "none" } = attemptLine.parse(JSON.parse(line));
      const phase = this.#phases.get(operationId);
      if (phase === undefined) continue;
      if (!causes[phase].includes(cause)) throw new Error(`an attempt hung in ${phase} ended with ${cause}`);
      this.#ended.set(phase, (this.#ended.get(phase) ?? 0) + 1);
    }
    return true;
  }

  text(): string {
    return phases.map((phase) => `${this.#ended.get(phase) ?? 0} ${phase}`).join(", ");
  }
}

interface HangingSinks {
  /** `address:port` of a name server that never answers. */
  readonly nameServer: string;
  urlOf(phase: Phase, index: number): string;
  close(): void;
}

async function openHangingSinks(): Promise<HangingSinks> {
  const names = createSocket("udp4").bind(0, "127.0.0.1");
  await once(names, "listening");
  const count = Array.from({ length: hangingPerPhase });
  // One reads and never writes, so that neither TLS nor an answer begins; the other does not even read.
  const silent = await Promise.all(count.map(() => openSilent(false)));
  const unread = await Promise.all(count.map(() => openSilent(true)));
  const portOf = (servers: readonly Silent[], index: number) => {
    const server = servers[index];
    if (server === undefined) throw new Error("no such sink");
    return server.port;
  };
  return {
    nameServer: `127.0.0.1:${names.address().port}`,
    urlOf: (phase, index) => {
      if (phase === "lookup") return `https://sink-${index}.example.com`;
      if (phase === "upload") return `http://127.0.0.1:${portOf(unread, index)}`;
      const scheme = phase === "connect" ? "https" : "http";
      return `${scheme}://127.0.0.1:${portOf(silent, index)}`;
    },
    close: () => {
      names.close();
      for (const server of [...silent, ...unread]) server.close();
    },
  };
}

interface Silent {
  readonly port: number;
  close(): void;
}

async function openSilent(pauseOnConnect: boolean): Promise<Silent> {
  const sockets = new Set<Socket>();
  const server = createServer({ pauseOnConnect }, (socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
    if (!pauseOnConnect) socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return {
    port: address.port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
