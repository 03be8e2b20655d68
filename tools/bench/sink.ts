import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { listen } from "../local/servers/listening-server.ts";
import { timeIn } from "./local-service.ts";

const maxDeliveryMilliseconds = 600_000;

/** A sink on this machine. */
export interface Sink {
  readonly url: string;
  /** Resolves when it has the answer of an operation. */
  delivered(operationId: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens a sink that takes some milliseconds after each upload to say that it has it. */
export async function openSink(milliseconds: number): Promise<Sink> {
  const operations = new Set<string>();
  const arrivals = new EventEmitter().setMaxListeners(0);
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    await wait(milliseconds);
    const operationId = String(request.headers["webhook-id"]);
    response.writeHead(204).end();
    operations.add(operationId);
    arrivals.emit(operationId);
  });
  return {
    ...(await listen(server, 0)),
    // It may be there before its operation's id is known here.
    delivered: async (operationId) => {
      if (operations.has(operationId)) return;
      await once(arrivals, operationId, { signal: AbortSignal.timeout(maxDeliveryMilliseconds) });
    },
  };
}

/** 9 cells. */
const boundary = [
  { latitude: 45.752, longitude: 4.86 },
  { latitude: 45.752, longitude: 4.864 },
  { latitude: 45.755, longitude: 4.862 },
];

/** Asks for an answer of 9 cells and an hour to a sink. Returns its operation's id once it is accepted. */
export async function requestDelivery(url: string, token: string, sink: Pick<Sink, "url">): Promise<string> {
  const response = await fetch(`${url}/populationdensitydata/retrieve`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({
      area: { areaType: "POLYGON", boundary },
      startTime: timeIn(2),
      endTime: timeIn(3),
      sink: `${sink.url}/`,
    }),
  });
  const { operationId } = (await response.json()) as { operationId?: string };
  if (response.status !== 202 || operationId === undefined) {
    throw new Error(`refused with ${response.status}`);
  }
  return operationId;
}
