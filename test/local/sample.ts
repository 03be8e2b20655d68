/** Gateways and functions of a few lines, for the tests of a file. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type RequestOptions, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Method } from "../../infra/gateway.ts";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { type LocalApi, readDeclarations } from "../../tools/local/declared/declarations.ts";
import { Gateway, type GatewayOptions } from "../../tools/local/gateway/gateway.ts";
import type { FunctionGroup } from "../../tools/local/lambda/function-threads.ts";
import { Functions, type ServedFunction } from "../../tools/local/lambda/functions.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

/** A method that the function `sample` answers, unless it is changed. */
export function methodOf(path: string, changes: Partial<Method> = {}): Method {
  const functionId = "sample" as Method["functionId"];
  return { path, functionId, verb: "GET", scope: null, streamed: false, publicBecause: "", ...changes };
}

/** Opens gateways with the service's own refusals, until the tests of the file have ended. */
export function useGateways() {
  const opened: ListeningServer[] = [];
  afterAll(() => Promise.all(opened.map((server) => server.close())));
  return async (api: Partial<LocalApi>, options: Partial<GatewayOptions> = {}) => {
    const logs: string[] = [];
    const { responses } = readDeclarations({}).api;
    const unused = () => Promise.reject(new Error("this gateway has no such function"));
    const gateway = new Gateway({
      api: { methods: [], otherVerbs: [], origins: "", responses, ...api },
      invoke: unused,
      stream: unused,
      logs: { write: (chunk) => logs.push(String(chunk)) },
      ...options,
    });
    const server = await gateway.open(0);
    opened.push(server);
    /** Sends the target as it is; `fetch` would normalize it. Resolves with the head of the answer. */
    const begin = async (path: string, { body, ...more }: RequestOptions & { body?: string } = {}) => {
      const { hostname, port } = new URL(server.url);
      const sent = request({ hostname, port, path, agent: false, ...more }).end(body);
      const [response] = await once(sent, "response");
      return response;
    };
    const send = async (...args: Parameters<typeof begin>) => {
      const response = await begin(...args);
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    };
    return { url: server.url, logs, begin, send, gateway };
  };
}

/** Runs a handler in one thread as several functions, with what each has beside the defaults. */
export function useFunctions(source: string, own: Readonly<Record<string, Partial<ServedFunction>>>) {
  const logs: string[] = [];
  const sink = { write: (chunk: string | Uint8Array) => logs.push(Buffer.from(chunk).toString()) };
  const defaults = {
    timeoutSeconds: 60,
    memoryMegabytes: 128,
    maxAtOnce: 10,
    reservedConcurrency: undefined,
  };
  const served = Object.entries(own).map(([id, changes]) => ({ ...defaults, id, ...changes }));
  let folder: TemporaryFolder;
  let functions: Functions;
  /** The functions with a handler of another source. */
  const groupOf = (name: string, written: string): FunctionGroup => {
    const file = join(folder.path, name);
    writeFileSync(file, written);
    return { files: Object.fromEntries(served.map(({ id }) => [id, file])), environment: { OWN: "1" } };
  };
  beforeAll(() => {
    folder = temporaryFolder("local-functions-");
    functions = new Functions(served, [groupOf("first.mjs", source)], { logs: sink });
  });
  afterAll(async () => {
    await functions.close();
    folder.remove();
  });
  return { functions: () => functions, groupOf, logs, sink, served };
}

/** A server that answers its one request when the test tells it to. */
export async function openGate() {
  const server = createServer();
  const reached: Promise<readonly [unknown, ServerResponse]> = once(server, "request") as never;
  const { url: address, close } = await listen(server, 0);
  onTestFinished(close);
  return { address, reached, letGo: async () => (await reached)[1].end() };
}
