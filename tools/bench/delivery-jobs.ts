import {
  uploadsPerCallerAndHost,
  uploadsPerHost,
} from "../../functions/population-density/delivery/permit-rules.ts";
import { atMost, inUnit, type Row, sized, times } from "./bench.ts";
import { type Issuer, openIssuer } from "./issuer.ts";
import { type Server, startService, withServer } from "./local-service.ts";
import { openSink, requestDelivery, type Sink } from "./sink.ts";

/** What is measured by `jobRows`. */
export const aboutJobs = [
  "How soon many small answers arrive, over HTTP from another `npm start`, with its embedded queue and tables, whose",
  "functions are warm. “The ideal” is the time in which all permits of the host would always be in use.",
].join("\n");

/** How many deliveries a caller and many callers get through a local run. */
export async function jobRows(): Promise<readonly Row[]> {
  const issuer = await openIssuer();
  try {
    return await withServer(await startService(issuer.environment), async (service) => {
      await withSinks(1, 0, async (sinks) => deliver(service, 8, sinks, [await issuer.tokenOf("warm")]));
      return [
        ...(await oneCallerRows(service, await issuer.tokenOf("one"))),
        ...(await manyCallersRows(service, issuer)),
        await burstRow(service, issuer, sized(1, 0.1)),
        await burstRow(service, issuer, sized(slowSinkSeconds, 0.2)),
      ];
    });
  } finally {
    await issuer.close();
  }
}

const maxSeconds = 20;
const answersOfOne = sized(100, 4);
const hosts = sized(40, 2);

async function oneCallerRows(service: Server, token: string): Promise<Row[]> {
  return await withSinks(1, 30, async (sinks) => [
    atMost(
      `${answersOfOne} small answers of one caller to one host, a sink that takes 30 ms`,
      await deliver(service, answersOfOne, sinks, [token]),
      maxSeconds,
      inUnit("s", 1),
    ),
    atMost(
      "uploads of one caller to one host at a time",
      maxAtOnce(sinks),
      uploadsPerCallerAndHost,
      inUnit("uploads"),
    ),
  ]);
}

async function manyCallersRows(service: Server, issuer: Issuer): Promise<Row[]> {
  return await withSinks(hosts, 300, async (sinks) => {
    const tokens = await Promise.all(sinks.map((_, index) => issuer.tokenOf(`caller-${index}`)));
    return [
      atMost(
        `${hosts} answers of ${hosts} callers to ${hosts} hosts, sinks that take 300 ms`,
        await deliver(service, hosts, sinks, tokens),
        maxSeconds,
        inUnit("s", 1),
      ),
      atMost("uploads to one of these hosts at a time", maxAtOnce(sinks), uploadsPerHost, inUnit("uploads")),
    ];
  });
}

const burstCallers = 5;
const answersOfCaller = sized(20, 1);
const maxBurstRatio = 1.25;
/** One that takes 10 s for its answer is given up in that moment, and some answers are sent to it twice. */
const slowSinkSeconds = 9;

/** How long some callers' uploads to one host take, over the ideal. */
async function burstRow(service: Server, issuer: Issuer, uploadSeconds: number): Promise<Row> {
  const count = burstCallers * answersOfCaller;
  const tokens = await Promise.all(
    Array.from({ length: burstCallers }, (_, caller) => issuer.tokenOf(`burst-${caller}`)),
  );
  const seconds = await withSinks(1, uploadSeconds * 1_000, (sinks) =>
    deliver(service, count, sinks, tokens),
  );
  return atMost(
    `${burstCallers} callers × ${answersOfCaller} answers to one host, a sink that takes ${uploadSeconds} s, over the ideal`,
    (seconds * uploadsPerHost) / (count * uploadSeconds),
    maxBurstRatio,
    times,
  );
}

/** Lends some sinks, each of which takes some milliseconds for an upload, and closes them. */
async function withSinks<Result>(
  count: number,
  milliseconds: number,
  use: (sinks: readonly Sink[]) => Promise<Result>,
): Promise<Result> {
  const sinks = await Promise.all(Array.from({ length: count }, () => openSink(milliseconds)));
  try {
    return await use(sinks);
  } finally {
    await Promise.all(sinks.map((sink) => sink.close()));
  }
}

function maxAtOnce(sinks: readonly Sink[]): number {
  return Math.max(...sinks.map((sink) => sink.maxAtOnce()));
}

/**
 * Requests answers at once, taking turns among the sinks and the callers. Returns the seconds from
 * the first request to the last delivery.
 */
async function deliver(
  { url }: Server,
  count: number,
  sinks: readonly Sink[],
  tokens: readonly string[],
): Promise<number> {
  const started = performance.now();
  const deliveries = Array.from({ length: count }, async (_, index) => {
    const [sink, token] = [sinks[index % sinks.length], tokens[index % tokens.length]];
    if (sink === undefined || token === undefined) throw new Error("no sink or no caller");
    await sink.delivered(await requestDelivery(url, token, sink));
  });
  await Promise.all(deliveries);
  return (performance.now() - started) / 1_000;
}
