import { setTimeout as wait } from "node:timers/promises";
import { uploadsPerHost } from "../../functions/population-density/delivery/permit-rules.ts";
import { atMost, inUnit, megabytes, type Row, shown, sized, times } from "./bench.ts";
import { openIssuer } from "./issuer.ts";
import { startService, usageOf, withServer } from "./local-service.ts";
import { openSink, requestDelivery, type Sink } from "./sink.ts";

const ordersAtOnce = sized(100, 5);
const maxAcceptSeconds = 5;
const callers = 8;
const ordersOfEach = sized(90, 1);
const maxBytesDelivered = 1_024_000_000;
const restSeconds = sized(75, 1);
const maxBytesRested = 512_000_000;

const burstCallers = 5;
const ordersOfBurst = sized(20, 1);
const uploadSeconds = sized(1, 0.1);
const maxBurstRatio = 1.25;

/** What is measured by `orderRows`. */
export const aboutOrders = [
  `\`npm start\` is sent ${ordersAtOnce} orders of one caller at once, for small answers to a sink that takes 30 ms for each: first with`,
  `no function running (“cold”), then again; then ${ordersOfEach} orders of each of ${callers} callers at once. Memory is that of the whole`,
  "program. A caller gives a request five seconds, and containers of 512 MB and of 1 GB hold it, at rest and at work. “The",
  `ideal” is the time in which all ${uploadsPerHost} permits of a host would always be in use.`,
].join("\n");

/** How soon orders that come at once are accepted and delivered, and what they leave behind. */
export async function orderRows(): Promise<Row[]> {
  const issuer = await openIssuer();
  const [quick, slow] = await Promise.all([openSink(30), openSink(uploadSeconds * 1_000)]);
  try {
    return await withServer(await startService(issuer.environment), async (service) => {
      const { url } = service;
      const tokens = await Promise.all(
        Array.from({ length: callers }, (_, n) => issuer.tokenOf(`caller-${n}`)),
      );
      const tokensOf = (from: readonly string[], count: number) =>
        from.flatMap((token) => Array.from({ length: count }, () => token));
      const ofOne = tokensOf(tokens.slice(0, 1), ordersAtOnce);
      const ofAll = tokensOf(tokens, ordersOfEach);
      const before = await usageOf(service);
      const cold = await order(url, ofOne, quick);
      const warm = await order(url, ofOne, quick);
      await order(url, ofAll, quick);
      const delivered = await usageOf(service);
      await wait(restSeconds * 1_000);
      const rested = await usageOf(service);
      await order(url, tokens, quick);
      const burst = tokensOf(tokens.slice(0, burstCallers), ordersOfBurst);
      const { deliveredSeconds } = await order(url, burst, slow);
      const ideal = (burst.length * uploadSeconds) / uploadsPerHost;
      const seconds = inUnit("s", 1);
      return [
        atMost(`${ordersAtOnce} orders accepted, cold`, cold.acceptedSeconds, maxAcceptSeconds, seconds),
        atMost(`${ordersAtOnce} orders accepted, warm`, warm.acceptedSeconds, maxAcceptSeconds, seconds),
        shown("resident memory before", megabytes(before.bytes)),
        atMost(`resident memory after ${ofAll.length} orders`, delivered.bytes, maxBytesDelivered, megabytes),
        atMost(`resident memory ${restSeconds} s later`, rested.bytes, maxBytesRested, megabytes),
        atMost(
          `${burstCallers} callers × ${ordersOfBurst} orders to one host, a sink that takes ${uploadSeconds} s, over the ideal`,
          deliveredSeconds / ideal,
          maxBurstRatio,
          times,
        ),
      ];
    });
  } finally {
    await Promise.all([quick.close(), slow.close(), issuer.close()]);
  }
}

/** Sends an order with each token at once. Returns the seconds until the last was accepted, and was delivered. */
async function order(url: string, tokens: readonly string[], sink: Sink) {
  const startedAt = performance.now();
  const since = () => (performance.now() - startedAt) / 1_000;
  const operations = await Promise.all(tokens.map((token) => requestDelivery(url, token, sink)));
  const acceptedSeconds = since();
  await Promise.all(operations.map((operationId) => sink.delivered(operationId)));
  return { acceptedSeconds, deliveredSeconds: since() };
}
