import { createServer, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "../../tools/local/servers/listening-server.ts";

/** How a sink answers a request whose whole body it has taken: not at all, by a reset connection, or with a status. */
export type SinkAnswer =
  | "hang"
  | "reset"
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Awaited before the answer. */
      readonly after?: Promise<unknown>;
    };

/** A received request. */
interface SinkRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
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
  close(): Promise<void>;
}

/** Opens sinks at a free port of 127.0.0.1. As under WSGI, a body has as many bytes as its `Content-Length` says. */
export async function openSink(): Promise<TestSink> {
  const answers = new Map<string, () => SinkAnswer>();
  const received: SinkRequest[] = [];
  const server = createServer(async (request, response) => {
    const { url: path = "", headers } = request;
    // Another test's sink had this port, if no sink of this one has the name.
    const answer: SinkAnswer = answers.get(nameIn(path))?.() ?? { status: 404 };
    const bytes = await buffer(request).catch(() => undefined);
    if (bytes === undefined) return;
    const body = bytes.subarray(0, Number(headers["content-length"] ?? 0)).toString();
    if (answers.has(nameIn(path))) received.push({ path, headers, body, answer });
    if (answer === "hang") return;
    if (answer === "reset") return void response.socket?.resetAndDestroy();
    await answer.after;
    response.writeHead(answer.status, answer.headers).end();
  });
  const { url: origin, close } = await listen(server, 0);
  const urlBy = (decide: (index: number) => SinkAnswer) => {
    const name = crypto.randomUUID();
    let index = 0;
    answers.set(name, () => decide(index++));
    return `${origin}/${name}?of=test`;
  };
  return {
    urlOf: (...given) => urlBy((index) => given[Math.min(index, given.length - 1)] ?? { status: 204 }),
    urlBy,
    received: (url) => received.filter(({ path }) => url === undefined || nameIn(url) === nameIn(path)),
    close,
  };
}

/** A sink is known by its path, with any query. */
function nameIn(url: string): string {
  return new URL(url, "http://127.0.0.1").pathname.slice(1);
}
