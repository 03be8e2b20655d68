import { setTimeout as wait } from "node:timers/promises";
import { atMost, inUnit, megabytes, type Row, shown, sized } from "./bench.ts";
import { openIssuer } from "./issuer.ts";
import { startService, usageOf, withServer } from "./local-service.ts";
import { openSink, requestDelivery, type Sink } from "./sink.ts";

const requestsAtOnce = sized(100, 5);
const maxAcceptSeconds = 2.5;
const callers = 8;
const requestsOfEach = sized(90, 1);
const maxBytesDelivered = 900_000_000;
const restSeconds = sized(75, 1);
const maxBytesRested = 400_000_000;

/** What is measured by `acceptanceRows`. */
export const aboutAcceptance = [
  `How soon \`npm start\` accepts ${requestsAtOnce} requests of one caller at once, for answers to a sink that takes 30 ms for each,`,
  "with the demo data: first with no function running, then again when all are delivered. Client and sink run on the same",
  `machine. Then ${callers} callers send ${requestsOfEach} each at once: memory is that of the whole program, when the last is delivered and`,
  `${restSeconds} seconds later.`,
].join("\n");

/** How soon requests that come at once are accepted, and what they leave behind. */
export async function acceptanceRows(): Promise<Row[]> {
  const issuer = await openIssuer();
  const sink = await openSink(30);
  try {
    return await withServer(await startService(issuer.environment), async (service) => {
      const { url } = service;
      const tokens = await Promise.all(
        Array.from({ length: callers }, (_, n) => issuer.tokenOf(`caller-${n}`)),
      );
      const ofOne = Array.from({ length: requestsAtOnce }, () => tokens[0] ?? "");
      const ofAll = tokens.flatMap((token) => Array.from({ length: requestsOfEach }, () => token));
      const before = await usageOf(service);
      const cold = await acceptSeconds(url, ofOne, sink);
      const warm = await acceptSeconds(url, ofOne, sink);
      await acceptSeconds(url, ofAll, sink);
      const delivered = await usageOf(service);
      await wait(restSeconds * 1_000);
      const rested = await usageOf(service);
      return [
        atMost(`${requestsAtOnce} requests accepted, cold`, cold, maxAcceptSeconds, inUnit("s", 1)),
        atMost(`${requestsAtOnce} requests accepted, warm`, warm, maxAcceptSeconds, inUnit("s", 1)),
        shown("resident memory before", megabytes(before.bytes)),
        atMost(
          `resident memory after ${ofAll.length} requests`,
          delivered.bytes,
          maxBytesDelivered,
          megabytes,
        ),
        atMost(`resident memory ${restSeconds} s later`, rested.bytes, maxBytesRested, megabytes),
      ];
    });
  } finally {
    await sink.close();
    await issuer.close();
  }
}

/** Sends a request with each token, and waits for the deliveries. Returns the seconds until the last was accepted. */
async function acceptSeconds(url: string, tokens: readonly string[], sink: Sink): Promise<number> {
  const startedAt = performance.now();
  const operations = await Promise.all(tokens.map((token) => requestDelivery(url, token, sink)));
  const seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(operations.map((operationId) => sink.delivered(operationId)));
  return seconds;
}
