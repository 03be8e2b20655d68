import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../tools/local/servers/listening-server.ts";

/** How a sink answers a request. */
export type SinkAnswer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Awaited before the answer. */
      readonly after?: Promise<unknown>;
    }
  /** Takes the whole body, and then says nothing, cuts the connection, or answers letter by letter, or for ever. */
  | "hang"
  | "reset"
  | "drip"
  | "endless"
  /** Cuts the connection when the first bytes of the body arrive. */
  | "cut";

/** A received request. */
interface SinkRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** How it was answered. */
  readonly answer: SinkAnswer;
}

/** A server that stands for sinks of callers. */
export interface TestSink {
  /** The URL of a new sink that gives these answers in turn and repeats the last; 204 without any. */
  urlOf(...answers: readonly SinkAnswer[]): string;
  /** The URL of a new sink that decides on each answer by the number of its requests so far. */
  urlBy(decide: (index: number) => SinkAnswer): string;
  /** The requests whose body came to its end, in this order; of one sink when its URL is given. */
  received(url?: string): readonly SinkRequest[];
  /** The requests whose body did not. */
  cutOff(url?: string): readonly SinkRequest[];
  /** The highest number of concurrent requests. */
  maxAtOnce(): number;
  close(): Promise<void>;
}

/** Opens sinks at a free port of 127.0.0.1. */
export async function openSink(): Promise<TestSink> {
  const scripts = new Map<string, (index: number) => SinkAnswer>();
  const counts = new Map<string, number>();
  const received: SinkRequest[] = [];
  const cutOff: SinkRequest[] = [];
  let atOnce = 0;
  let maxAtOnce = 0;
  const server = createServer(async (request, response) => {
    const { url: path = "", headers } = request;
    const name = nameIn(path);
    const decide = scripts.get(name);
    if (decide === undefined) {
      // Of another test, whose sink had this port.
      request.resume();
      response.writeHead(404).end();
      return;
    }
    maxAtOnce = Math.max(maxAtOnce, ++atOnce);
    response.once("close", () => atOnce--);
    const index = counts.get(name) ?? 0;
    counts.set(name, index + 1);
    const answer = decide(index);
    const { body, isWhole } = await bodyOf(request, answer === "cut");
    (isWhole ? received : cutOff).push({ path, headers, body, answer });
    if (isWhole) await give(answer, response);
  });
  // What a sink holds is lost with it: no test waits for a connection of its own making.
  server.on("clientError", (_, socket) => socket.destroy());
  const { url: origin, close } = await listen(server, 0);
  const urlBy = (decide: (index: number) => SinkAnswer) => {
    const name = crypto.randomUUID();
    scripts.set(name, decide);
    return `${origin}/${name}?of=test`;
  };
  const ofSink = (requests: readonly SinkRequest[], url?: string) =>
    requests.filter(({ path }) => url === undefined || nameIn(url) === nameIn(path));
  return {
    urlOf: (...answers) => urlBy((index) => answers[Math.min(index, answers.length - 1)] ?? { status: 204 }),
    urlBy,
    received: (url) => ofSink(received, url),
    cutOff: (url) => ofSink(cutOff, url),
    maxAtOnce: () => maxAtOnce,
    close,
  };
}

/** A sink is known by its path, with any query. */
function nameIn(url: string): string {
  return new URL(url, "http://127.0.0.1").pathname.slice(1);
}

async function bodyOf(request: IncomingMessage, isToBeCut: boolean) {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) {
      chunks.push(chunk);
      if (isToBeCut) request.socket.resetAndDestroy();
    }
  } catch {
    // The other side, or this one, has cut it off: what came is kept.
  }
  return { body: Buffer.concat(chunks).toString(), isWhole: request.complete && !isToBeCut };
}

async function give(answer: SinkAnswer, response: ServerResponse): Promise<void> {
  if (typeof answer === "object") {
    await answer.after;
    response.writeHead(answer.status, answer.headers).end();
    return;
  }
  if (answer === "hang") return;
  if (answer === "drip") {
    const letters = setInterval(() => response.socket?.write("H"), 50);
    response.once("close", () => clearInterval(letters));
    return;
  }
  if (answer === "endless") {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(9_999)));
    };
    response.on("drain", more);
    more();
    return;
  }
  response.socket?.resetAndDestroy();
}
