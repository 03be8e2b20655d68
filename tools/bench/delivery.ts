import { uploadsPerHost } from "../../functions/population-density/delivery/permit-rules.ts";
import { atMost, type Bench, sized, times } from "./bench.ts";
import { openIssuer } from "./issuer.ts";
import { startService, withServer } from "./local-service.ts";
import { openSink, requestDelivery } from "./sink.ts";

const callers = 5;
const ordersOfEach = sized(20, 1);
const uploadSeconds = sized(1, 0.1);
const maxRatio = 1.25;

/** Answers to a sink, from the order to the last byte. */
export const delivery: Bench = {
  about: [
    `\`npm start\` is sent ${ordersOfEach} orders of each of ${callers} callers at once, for small answers to a sink. “The ideal” is the time in`,
    `which all ${uploadsPerHost} permits of a host would always be in use.`,
  ].join("\n"),
  run: async () => {
    const issuer = await openIssuer();
    const sink = await openSink(uploadSeconds * 1_000);
    try {
      return await withServer(await startService(issuer.environment), async ({ url }) => {
        const tokens = await Promise.all(
          Array.from({ length: callers }, (_, caller) => issuer.tokenOf(`caller-${caller}`)),
        );
        const deliver = async (token: string) => sink.delivered(await requestDelivery(url, token, sink));
        // Functions run, and their clients are connected, before the time is taken.
        await Promise.all(tokens.map(deliver));
        const orders = tokens.flatMap((token) => Array.from({ length: ordersOfEach }, () => token));
        const started = performance.now();
        await Promise.all(orders.map(deliver));
        const ideal = (orders.length * uploadSeconds) / uploadsPerHost;
        const what = `${callers} callers × ${ordersOfEach} orders to one host, a sink that takes ${uploadSeconds} s, over the ideal`;
        return [atMost(what, (performance.now() - started) / 1_000 / ideal, maxRatio, times)];
      });
    } finally {
      await Promise.all([sink.close(), issuer.close()]);
    }
  },
};
