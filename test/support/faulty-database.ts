import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

/** A call to DynamoDB, as it arrives. */
interface DatabaseCall {
  /** Such as `GetItem`. */
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** How often the SDK has sent it, from 1. */
  readonly attempt: number;
  /** Counts all calls, from 0. */
  readonly index: number;
}

/** What becomes of a call. */
type Treatment =
  | { readonly kind: "pass" }
  | { readonly kind: "refuse"; readonly status: number; readonly name: string }
  | { readonly kind: "delay"; readonly milliseconds: number }
  /** Nothing is ever answered. */
  | { readonly kind: "hang" }
  | { readonly kind: "reset" }
  /** Answered with 200 and this text. */
  | { readonly kind: "say"; readonly text: string }
  /** The connection ends half-way through the answer. */
  | { readonly kind: "cut" }
  /** Done, and the answer is lost. */
  | { readonly kind: "lose" }
  /** At most so many keys of a BatchGetItem are read, the others are left unprocessed. */
  | { readonly kind: "read"; readonly keys: number };

/** Decides on a call. */
export type Fault = (call: DatabaseCall) => Treatment;

/** The way to a DynamoDB, on which things go wrong. */
export interface FaultyDatabase extends ListeningServer {
  /** From now on; without a fault all calls pass. */
  suffer(fault?: Fault): void;
  /** How many calls did not simply pass, ever. */
  readonly troubled: () => number;
}

const pass: Fault = () => ({ kind: "pass" });

/** Opens the way to a DynamoDB by its address. */
export async function openFaultyDatabase(target: string): Promise<FaultyDatabase> {
  let fault = pass;
  let index = 0;
  let troubled = 0;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const treatment = fault({
      parameters: z.looseObject({}).parse(JSON.parse(body.toString())),
      operation: String(request.headers["x-amz-target"]).replace(/^.*\./, ""),
      attempt: Number(/attempt=(\d+)/.exec(String(request.headers["amz-sdk-request"]))?.[1] ?? 1),
      index: index++,
    });
    if (treatment.kind !== "pass") troubled++;
    try {
      await treat(treatment, (sent = body) => forward(target, request, sent), body, response);
    } catch {
      // The database has gone before its last caller has.
      response.destroy();
    }
  });
  return {
    ...(await listen(server, 0)),
    suffer: (next = pass) => {
      fault = next;
    },
    troubled: () => troubled,
  };
}

interface Forwarded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

async function treat(
  treatment: Treatment,
  ask: (body?: Buffer) => Promise<Forwarded>,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const json = { "content-type": "application/x-amz-json-1.0" };
  const answer = ({ status, headers, bytes }: Forwarded) => response.writeHead(status, headers).end(bytes);
  switch (treatment.kind) {
    case "pass":
      answer(await ask());
      return;
    case "refuse":
      response.writeHead(treatment.status, json);
      response.end(
        JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${treatment.name}`, message: "later" }),
      );
      return;
    case "delay":
      await wait(treatment.milliseconds);
      answer(await ask());
      return;
    case "hang":
      return;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "say":
      response.writeHead(200, json).end(treatment.text);
      return;
    case "cut": {
      const { status, headers, bytes } = await ask();
      response.writeHead(status, { ...headers, "content-length": bytes.length });
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
      return;
    }
    case "lose":
      await ask();
      response.destroy();
      return;
    case "read":
      answer(await readSome(body, treatment.keys, ask));
  }
}

const batch = z.looseObject({
  RequestItems: z.record(z.string(), z.looseObject({ Keys: z.array(z.unknown()) })),
});
const found = z.looseObject({ UnprocessedKeys: z.optional(z.record(z.string(), z.unknown())) });

/** Reads the first keys of a batch of one table. */
async function readSome(
  body: Buffer,
  keys: number,
  ask: (body?: Buffer) => Promise<Forwarded>,
): Promise<Forwarded> {
  const asked = batch.parse(JSON.parse(body.toString()));
  const [table = "", { Keys, ...others } = { Keys: [] }] = Object.entries(asked.RequestItems)[0] ?? [];
  const left = Keys.slice(keys);
  const UnprocessedKeys = left.length === 0 ? {} : { [table]: { Keys: left, ...others } };
  const headers = { "content-type": "application/x-amz-json-1.0" };
  if (keys === 0) {
    const none = { Responses: { [table]: [] }, UnprocessedKeys };
    return { status: 200, headers, bytes: Buffer.from(JSON.stringify(none)) };
  }
  const RequestItems = { [table]: { Keys: Keys.slice(0, keys), ...others } };
  const { status, bytes } = await ask(Buffer.from(JSON.stringify({ ...asked, RequestItems })));
  const read = { ...found.parse(JSON.parse(bytes.toString())), UnprocessedKeys };
  return { status, headers, bytes: Buffer.from(JSON.stringify(read)) };
}

async function forward(target: string, request: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const dropped = /^(?:host|connection|content-length|transfer-encoding|keep-alive|x-amz-crc32)$/;
  const kept = Object.entries(request.headers).filter(([name]) => !dropped.test(name));
  const answer = await fetch(target, {
    method: "POST",
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    body: new Uint8Array(body),
  });
  const headers = [...answer.headers].filter(([name]) => !dropped.test(name));
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: Object.fromEntries(headers), bytes };
}
