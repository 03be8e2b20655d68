import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { endpoint } from "../../../shared/endpoint.ts";
import { serve } from "../../../shared/http/serve.ts";
import { device, phoneNumber } from "../../../shared/schemas.ts";
import event from "./warm-request.json" with { type: "json" };

// The whole path of a request except caller and quota, which need a token and a table: event, correlator,
// deadline, body, schemas, handler, response schema, log line, headers.
const declaration = endpoint({
  id: "bench/warm-request",
  operationId: "warmRequest",
  summary: "A request without I/O",
  description: "A request without I/O.",
  method: "POST",
  path: "/bench/warm-request",
  aliases: [],
  scope: null,
  publicBecause: "It is a benchmark.",
  body: z.object({ device, since: z.iso.date(), details: z.boolean().default(false) }),
  responses: { 200: z.object({ phoneNumber, since: z.iso.date(), details: z.boolean(), count: z.int() }) },
  errors: ["INVALID_ARGUMENT"],
});

const handler = serve(declaration, async ({ body, reply }) =>
  reply(200, {
    phoneNumber: body.device.phoneNumber ?? "",
    since: body.since,
    details: body.details,
    count: 3,
  }),
);

const warmUpCalls = 2_000;
const timedCalls = 10_000;
const text = JSON.stringify(event);
const invocation = { getRemainingTimeInMillis: () => 10_000 };

/** One call with an event of its own, as Lambda parses one for each invocation. */
async function call(): Promise<number> {
  const parsed: unknown = JSON.parse(text);
  // Between invocations Lambda goes back to the event loop.
  await setImmediate();
  const started = performance.now();
  const { statusCode } = await handler(parsed, invocation);
  const milliseconds = performance.now() - started;
  if (statusCode !== 200) throw new Error(`the request was answered with ${statusCode}`);
  return milliseconds;
}

for (let index = 0; index < warmUpCalls; index++) await call();
const milliseconds: number[] = [];
for (let index = 0; index < timedCalls; index++) milliseconds.push(await call());
process.send?.(milliseconds);
