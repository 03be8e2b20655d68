import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { jsonIn } from "../../json-text.ts";
import { listen } from "../../local/servers/listening-server.ts";
import type { Plan } from "./plan.ts";
import { valuesAt } from "./property-path.ts";

/** A request that arrived at a sink. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** How it was answered. */
  readonly status: number;
}

/** The sinks of scenarios, one each. */
export interface Receiver {
  /**
   * The address of a new sink.
   * @param failingStatus with which it answers until it is told that the operation has failed.
   */
  newSink(failingStatus?: number): string;
  /** The first delivery to a sink that was or was not accepted; undefined if none comes in time. */
  delivery(sink: string, wanted: "accepted" | "refused"): Promise<Delivery | undefined>;
  close(): Promise<void>;
}

/** Opens the receiver of a plan on this machine. */
export async function openReceiver({
  port,
  url,
  waitSeconds,
}: NonNullable<Plan["receiver"]>): Promise<Receiver> {
  const sinks = new Map<
    string,
    { readonly failingStatus: number | undefined; readonly deliveries: Delivery[] }
  >();
  const nameIn = (address: string) => address.split("/").at(-1) ?? "";
  const server = createServer(async (request, response) => {
    const sink = sinks.get(nameIn(request.url ?? ""));
    const body = jsonIn(await text(request));
    const isFailure = valuesAt(body, "$.status")[0] === "OPERATION_NOT_COMPLETED";
    const status = sink === undefined ? 404 : isFailure ? 204 : (sink.failingStatus ?? 204);
    response.writeHead(status).end();
    sink?.deliveries.push({ headers: request.headers, body, status });
  });
  const listening = await listen(server, port);
  return {
    newSink: (failingStatus) => {
      const name = randomUUID();
      sinks.set(name, { failingStatus, deliveries: [] });
      return `${(url ?? listening.url).replace(/\/$/, "")}/${name}`;
    },
    delivery: async (sink, wanted) => {
      const deadline = Date.now() + waitSeconds * 1_000;
      for (;;) {
        const found = sinks
          .get(nameIn(sink))
          ?.deliveries.find(({ status }) => status < 300 === (wanted === "accepted"));
        if (found !== undefined || Date.now() > deadline) return found;
        await wait(100);
      }
    },
    close: listening.close,
  };
}
