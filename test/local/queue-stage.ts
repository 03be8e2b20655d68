import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

const deliverySchema = z.object({
  queue: z.string(),
  records: z.array(
    z.looseObject({
      messageId: z.string(),
      body: z.string(),
      attributes: z.looseObject({ ApproximateReceiveCount: z.string() }),
    }),
  ),
});

/** A batch that a consumer of the sample stack has received. */
export type Delivery = z.output<typeof deliverySchema>;

/** What the consumer does with a batch: hides its messages again, then throws or answers. */
interface Instruction {
  readonly hideSeconds?: number;
  readonly error?: string;
  readonly answer?: unknown;
}

/** A server that tells the consumers what to do with their batches, as a test says. */
export interface Stage extends ListeningServer {
  readonly deliveries: Delivery[];
  /** The number of batches that are being handled. */
  readonly open: () => number;
  /** Forgets all deliveries and answers with the script from now on; without one, every batch succeeds. */
  play(script?: (delivery: Delivery) => Instruction | Promise<Instruction>): void;
}

/** Opens a stage on a free port. */
export async function openStage(): Promise<Stage> {
  const deliveries: Delivery[] = [];
  let open = 0;
  let play: Parameters<Stage["play"]>[0];
  const server = createServer(async (request, response) => {
    open++;
    response.once("close", () => open--);
    const delivery = deliverySchema.parse(await json(request));
    deliveries.push(delivery);
    response.end(JSON.stringify((await play?.(delivery)) ?? {}));
  });
  return {
    ...(await listen(server, 0)),
    deliveries,
    open: () => open,
    play: (script) => {
      deliveries.length = 0;
      play = script;
    },
  };
}

/** The receive counts with which each message of a queue was delivered, by its body. */
export function receiptsOf(deliveries: readonly Delivery[], queue: string): Record<string, string[]> {
  const receipts: Record<string, string[]> = {};
  for (const { body, attributes } of deliveries
    .filter((one) => one.queue === queue)
    .flatMap((one) => one.records)) {
    receipts[body] = [...(receipts[body] ?? []), attributes.ApproximateReceiveCount];
  }
  return receipts;
}
