import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tokenWith } from "../support/client.ts";
import { everyScope } from "../support/scopes.ts";
import { sharedService } from "../support/service.ts";

/** A request as it is sent, byte by byte: `fetch` would mend it. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** What the service answered; the text is empty when it is compressed. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const atOnce = 16;

/** Few enough that none comes near what a caller may send in a minute. */
const requestsOfCaller = 200;

/** A token with every scope, of another caller after each `requestsOfCaller` requests. */
export function changingCaller(): () => Promise<string> {
  let token: Promise<string> = Promise.resolve("");
  let used = requestsOfCaller;
  return async () => {
    if (used++ >= requestsOfCaller) {
      used = 1;
      token = tokenWith({ scope: everyScope.join(" ") });
    }
    return await token;
  };
}

/**
 * Sends requests, 16 at a time, one operation after another so that none waits for another's function.
 * @param tokenFor the bearer token of a request, or undefined for none.
 * @param faultsIn what is wrong with an answer.
 * @returns each fault with its request.
 */
export async function sendAll<Request extends WireRequest>(
  requests: readonly Request[],
  tokenFor: (request: Request, index: number) => Promise<string | undefined>,
  faultsIn: (request: Request, answer: Answered) => readonly string[],
): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const order = (index: number) => (index * 7_919) % requests.length;
  const waiting = [...requests.entries()].sort(([one], [other]) => order(one) - order(other));
  const faults: string[] = [];
  const work = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const [index, request] = entry;
      const found = await send(agent, request, await tokenFor(request, index)).then(
        (answer) => faultsIn(request, answer),
        (error: unknown) => [String(error)],
      );
      faults.push(...found.map((fault) => `${fault}: ${describe(request)}`));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  agent.destroy();
  return faults;
}

function send(agent: Agent, { method, path, headers, body }: WireRequest, token: string | undefined) {
  const { hostname, port } = new URL(sharedService.url);
  const sent = {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-length": body.length }),
  };
  return new Promise<Answered>((resolve, reject) => {
    const request = httpRequest({ agent, hostname, port, path, method, headers: sent, timeout: 30_000 });
    request.on("response", (response) => {
      const { statusCode: status = 0, headers: received } = response;
      const isPlain = received["content-encoding"] === undefined;
      response.toArray().then((chunks) => {
        const text = isPlain ? Buffer.concat(chunks).toString() : "";
        resolve({ status, headers: received, text });
      }, reject);
    });
    request.on("timeout", () => request.destroy(new Error("no answer in time")));
    request.on("error", reject);
    request.end(body);
  });
}

function describe({ method, path, headers, body }: WireRequest): string {
  const text = body?.toString("latin1").slice(0, 400) ?? "";
  return `${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(text)}`;
}
