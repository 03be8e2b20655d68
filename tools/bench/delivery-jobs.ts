import {
  uploadsPerCallerAndHost,
  uploadsPerHost,
} from "../../functions/population-density/delivery/permit-rules.ts";
import type { LocalService } from "../local/service.ts";
import { atMost, inUnit, type Row, sized, times } from "./bench.ts";
import { type TokenOf, withLocalService } from "./own-service.ts";
import { openSink, requestDelivery, type Sink } from "./sink.ts";

/** What is measured by `jobRows`. */
export const aboutJobs = [
  "How soon many small answers arrive, over HTTP from the local service, with its embedded queue and tables, whose",
  "functions are warm. “The ideal” is the time in which all permits of the host would always be in use.",
].join("\n");

/** How many deliveries a caller and many callers get through a local run. */
export async function jobRows(): Promise<readonly Row[]> {
  return await withLocalService(async (service, tokenOf) => {
    await withSinks(1, 0, async (sinks) => deliver(service, 8, sinks, [await tokenOf("warm")]));
    return [
      ...(await oneCallerRows(service, await tokenOf("one"))),
      ...(await manyCallersRows(service, tokenOf)),
      await burstRow(service, tokenOf, 1),
      await burstRow(service, tokenOf, 10),
    ];
  });
}

const maxSeconds = 20;

async function oneCallerRows(service: LocalService, token: string): Promise<Row[]> {
  return await withSinks(1, 30, async (sinks) => [
    atMost(
      "100 small answers of one caller to one host, a sink that takes 30 ms",
      await deliver(service, 100, sinks, [token]),
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

async function manyCallersRows(service: LocalService, tokenOf: TokenOf): Promise<Row[]> {
  return await withSinks(40, 300, async (sinks) => {
    const tokens = await Promise.all(sinks.map((_, index) => tokenOf(`caller-${index}`)));
    return [
      atMost(
        "40 answers of 40 callers to 40 hosts, sinks that take 300 ms",
        await deliver(service, 40, sinks, tokens),
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

/** How long some callers' uploads to one host take, over the ideal. */
async function burstRow(service: LocalService, tokenOf: TokenOf, uploadSeconds: number): Promise<Row> {
  const count = burstCallers * answersOfCaller;
  const tokens = await Promise.all(
    Array.from({ length: burstCallers }, (_, caller) => tokenOf(`burst-${caller}`)),
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
 * Requests so many answers at once, to each of the sinks and by each of the callers in turn. Returns the seconds from
 * the first request to the last delivery.
 */
async function deliver(
  { url }: LocalService,
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
