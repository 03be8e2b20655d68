import { setTimeout as wait } from "node:timers/promises";
import { atMost, inUnit, mebibytes, type Row, shown, sized } from "./bench.ts";
import { type Server, startService, usageOf, withServer } from "./local-service.ts";
import { openSink, requestDelivery, type Sink } from "./sink.ts";

const requestsAtOnce = sized(100, 5);
const maxAcceptSeconds = 3;
const restSeconds = sized(60, 1);
const maxBytes = 600 * 2 ** 20;

/** What is measured by `acceptanceRows`. */
export const aboutAcceptance = [
  `How soon \`npm start\` accepts ${requestsAtOnce} requests of one caller at once, for answers to a sink that takes 30 ms for each,`,
  "with the demo data: first with no function running, then again when all are delivered. Client and sink run on the same",
  `machine. Memory is that of the whole program, ${restSeconds} seconds after the last delivery.`,
].join("\n");

/** How soon requests that come at once are accepted, and what they leave behind. */
export async function acceptanceRows(): Promise<Row[]> {
  return await withServer(await startService(), async (service) => {
    const sink = await openSink(30);
    try {
      const before = await usageOf(service);
      const cold = await acceptSeconds(service, sink);
      const warm = await acceptSeconds(service, sink);
      const delivered = await usageOf(service);
      await wait(restSeconds * 1_000);
      const rested = await usageOf(service);
      return [
        atMost(`${requestsAtOnce} requests accepted, cold`, cold, maxAcceptSeconds, inUnit("s", 1)),
        atMost(`${requestsAtOnce} requests accepted, warm`, warm, maxAcceptSeconds, inUnit("s", 1)),
        shown("resident memory before", mebibytes(before.bytes)),
        shown("resident memory at the last delivery", mebibytes(delivered.bytes)),
        atMost(`resident memory ${restSeconds} s later`, rested.bytes, maxBytes, mebibytes),
      ];
    } finally {
      await sink.close();
    }
  });
}

/** Sends the requests and waits for their deliveries. Returns the seconds until the last request was accepted. */
async function acceptSeconds({ url, token }: Server, sink: Sink): Promise<number> {
  const startedAt = performance.now();
  const operations = await Promise.all(
    Array.from({ length: requestsAtOnce }, () => requestDelivery(url, token, sink)),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(operations.map((operationId) => sink.delivered(operationId)));
  return seconds;
}
