import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { send } from "../calls/send.ts";
import { jsonIn } from "../json-text.ts";
import type { Outcome } from "./run-scenario.ts";

/** Milliseconds between two looks at an operation, and until one that has not ended is taken for lost. */
const [lookMilliseconds, lostMilliseconds] = [1_000, 180_000];

const accepted = z.object({ operationId: z.string() });
const operation = z.object({ state: z.string() });

/** What a delivery needs. */
interface Delivery {
  readonly url: string;
  readonly token: string;
  /** An address at which the service finds somebody who accepts its deliveries. */
  readonly sink: string;
  /** The body of a request for densities. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** Has densities delivered to a sink, and waits until the service says that they were: minutes at most. */
export async function deliverTo({ url, token, sink, request }: Delivery): Promise<Outcome> {
  const begun = performance.now();
  const failure = await failureOf({ url, token, sink, request });
  return { name: "sink/densities-delivered", milliseconds: performance.now() - begun, failure };
}

async function failureOf({ url, token, sink, request }: Delivery): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ ...request, sink });
  const answer = await send(`${url}/populationdensitydata/retrieve`, { method: "POST", headers, body });
  const { data } = accepted.safeParse(jsonIn(await answer.text()));
  if (answer.status !== 202 || data === undefined) return `expected 202, answered ${answer.status}`;
  const place = `${url}/populationdensitydata/operations/${encodeURIComponent(data.operationId)}`;
  const lostAt = performance.now() + lostMilliseconds;
  let state = "PENDING";
  while (state === "PENDING" && performance.now() < lostAt) {
    await pause(lookMilliseconds);
    const looked = await send(place, { headers });
    state = operation.safeParse(jsonIn(await looked.text())).data?.state ?? `status ${looked.status}`;
  }
  return state === "DELIVERED" ? undefined : `expected a delivered operation, which is ${state}`;
}
