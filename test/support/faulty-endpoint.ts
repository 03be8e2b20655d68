import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestTo,
  type ServerResponse,
} from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

/** A call to an AWS server. */
interface AwsCall {
  /** Such as `GetItem`. */
  readonly operation: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The SDK's attempt, from 1. */
  readonly attempt: number;
}

/**
 * How a call is handled. `refuse`: 500 InternalServerError. `hang`: never answered. `cut`: the connection ends half-way
 * through the answer. `lose`: the call is executed and its answer is lost.
 */
type Behaviour =
  | "pass"
  | "refuse"
  | "hang"
  | "reset"
  | "cut"
  | "lose"
  | { readonly refuse: { readonly status: number; readonly name: string } }
  | { readonly delayMilliseconds: number }
  /** Answered with 200 and this text. */
  | { readonly text: string }
  /** At most so many keys of a BatchGetItem are read, the others are left unprocessed. */
  | { readonly readKeys: number }
  /** At most so many items of a BatchWriteItem are written, the others are left unprocessed. */
  | { readonly writeItems: number };

/** Decides how a call is handled. */
export type Fault = (call: AwsCall) => Behaviour | Promise<Behaviour>;

/** A proxy of a real server in which a test observes calls and injects faults. */
export interface FaultyEndpoint extends ListeningServer {
  /** All calls so far, in order. */
  readonly calls: AwsCall[];
  /** Handles calls with the fault from now on; without one, all calls pass. */
  readonly inject: (fault?: Fault) => void;
  /** Passes calls on to another server of the same tables or queues from now on; without one, to the first. */
  readonly passTo: (server?: string) => void;
  /** The number of calls that had a fault. */
  readonly faultCount: () => number;
}

const pass: Fault = () => "pass";

const parametersSchema = z.looseObject({});

/** A received call. Its parameters are parsed when they are first read; most never are. */
function callOf(headers: IncomingHttpHeaders, body: Buffer): AwsCall {
  let parameters: AwsCall["parameters"] | undefined;
  return {
    operation: String(headers["x-amz-target"]).replace(/^.*\./, ""),
    get parameters() {
      parameters ??= parametersSchema.parse(JSON.parse(body.toString()));
      return parameters;
    },
    attempt: Number(/attempt=(\d+)/.exec(String(headers["amz-sdk-request"]))?.[1] ?? 1),
  };
}

/** Opens a proxy of the server at an address. */
export async function openFaultyEndpoint(target: string): Promise<FaultyEndpoint> {
  const calls: AwsCall[] = [];
  const agent = new Agent({ keepAlive: true });
  let passedTo = target;
  let fault = pass;
  let faultCount = 0;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const call = callOf(request.headers, body);
    calls.push(call);
    const behaviour = await fault(call);
    if (behaviour !== "pass") faultCount++;
    try {
      const ask = (sent: Buffer = body) => forward(passedTo, agent, request, sent);
      await behave(behaviour, ask, body, response);
    } catch {
      // The server was closed before its last client.
      response.destroy();
    }
  });
  const { url, close } = await listen(server, 0);
  return {
    url,
    close: async () => {
      await close();
      agent.destroy();
    },
    calls,
    inject: (next = pass) => {
      fault = next;
    },
    passTo: (server = target) => {
      passedTo = server;
    },
    faultCount: () => faultCount,
  };
}

interface Forwarded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

async function behave(
  behaviour: Behaviour,
  ask: (body?: Buffer) => Promise<Forwarded>,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const json = { "content-type": "application/x-amz-json-1.0" };
  const answer = ({ status, headers, bytes }: Forwarded) => response.writeHead(status, headers).end(bytes);
  const refuse = ({ status, name }: { readonly status: number; readonly name: string }) => {
    const refusal = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "later" };
    response.writeHead(status, json).end(JSON.stringify(refusal));
  };
  if (typeof behaviour === "object") {
    if ("refuse" in behaviour) return refuse(behaviour.refuse);
    if ("text" in behaviour) return void response.writeHead(200, json).end(behaviour.text);
    if ("writeItems" in behaviour)
      return void answer(await some(body, "writeItems", behaviour.writeItems, ask));
    if ("readKeys" in behaviour) return void answer(await some(body, "readKeys", behaviour.readKeys, ask));
    await wait(behaviour.delayMilliseconds);
    return void answer(await ask());
  }
  switch (behaviour) {
    case "pass":
      return void answer(await ask());
    case "refuse":
      return refuse({ status: 500, name: "InternalServerError" });
    case "hang":
      return;
    case "reset":
      return void response.socket?.resetAndDestroy();
    case "cut": {
      const { status, headers, bytes } = await ask();
      response.writeHead(status, { ...headers, "content-length": bytes.length });
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
      return;
    }
    case "lose":
      await ask();
      response.destroy();
  }
}

const entries = z.array(z.unknown());
const batch = z.looseObject({ RequestItems: z.record(z.string(), z.unknown()) });
const ofKeys = z.looseObject({ Keys: entries });

/** Reads the first keys of a batch of one table, or writes the first items of a batch to one. */
async function some(
  body: Buffer,
  kind: "readKeys" | "writeItems",
  count: number,
  ask: (body?: Buffer) => Promise<Forwarded>,
): Promise<Forwarded> {
  const asked = batch.parse(JSON.parse(body.toString()));
  const [table = "", request] = Object.entries(asked.RequestItems)[0] ?? [];
  const isRead = kind === "readKeys";
  const all = isRead ? ofKeys.parse(request).Keys : entries.parse(request);
  const of = (part: unknown[]) =>
    part.length === 0 ? {} : { [table]: isRead ? { ...ofKeys.parse(request), Keys: part } : part };
  const [taken, left] = [of(all.slice(0, count)), of(all.slice(count))];
  const unprocessed = isRead ? { UnprocessedKeys: left } : { UnprocessedItems: left };
  const done: object =
    count === 0
      ? { Responses: { [table]: [] } }
      : JSON.parse(
          (await ask(Buffer.from(JSON.stringify({ ...asked, RequestItems: taken })))).bytes.toString(),
        );
  const headers = { "content-type": "application/x-amz-json-1.0" };
  return { status: 200, headers, bytes: Buffer.from(JSON.stringify({ ...done, ...unprocessed })) };
}

const dropped = /^(?:host|connection|content-length|transfer-encoding|keep-alive|x-amz-crc32)$/;

function kept(headers: IncomingHttpHeaders): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => !dropped.test(name));
  return Object.fromEntries(others.map(([name, value]) => [name, String(value)]));
}

async function forward(
  target: string,
  agent: Agent,
  { headers }: IncomingMessage,
  body: Buffer,
): Promise<Forwarded> {
  const to = { method: "POST", agent, headers: { ...kept(headers), "content-length": body.length } };
  // `fetch` takes several times as much CPU time.
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = () => {
      const sent = requestTo(target, to, resolve);
      // The server may have closed a kept-alive connection: https://nodejs.org/api/http.html#requestreusedsocket
      sent.once("error", (error) => (sent.reusedSocket ? send() : reject(error))).end(body);
    };
    send();
  });
  const bytes = Buffer.concat(await answer.toArray());
  return { status: answer.statusCode ?? 500, headers: kept(answer.headers), bytes };
}
