import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { localLogStream } from "../shared/environment.ts";
import { type ListeningServer, listen } from "./local/servers/listening-server.ts";

/** The answer to an invocation so far. The client reports a failure while it asks for the next invocation. */
export class Invoked {
  readonly read: Reader;
  readonly #chunks: Buffer[] = [];
  /** Whether a streamed response was read to an end in order. */
  isWhole = false;
  /** The result of a function that does not stream. */
  result: unknown;
  /** The name of the error that the handler ended with, as far as the Runtime API was told. */
  errorType: string | undefined;

  constructor(read: Reader) {
    this.read = read;
  }

  keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** The streamed bytes that were read, including the metadata. */
  get streamed(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/** Reads a streamed response, and keeps what it reads. */
export type Reader = (response: IncomingMessage, keep: (chunk: Buffer) => void) => Promise<void>;

const readAll: Reader = async (response, keep) => {
  for await (const chunk of response) keep(chunk);
};

interface How {
  readonly read?: Reader;
  /** Until the function's time-out. */
  readonly remainingMilliseconds?: number;
}

const errorSchema = z.object({ errorType: z.string() });
const trailersSchema = z.object({ "lambda-runtime-function-error-type": z.string().optional() });

/** What Lambda sets and the client wants; a function's own environment may have others of them. */
const setByLambda = {
  AWS_LAMBDA_FUNCTION_NAME: localLogStream,
  AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "1024",
  AWS_LAMBDA_LOG_GROUP_NAME: localLogStream,
  AWS_LAMBDA_LOG_STREAM_NAME: localLogStream,
} as const;

/**
 * A function's bundle in a process of its own, on AWS's runtime interface client. This class is the Runtime API that
 * the client talks to; it has one invocation after the other.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class RuntimeClient {
  readonly #graceMilliseconds: number;
  #server: ListeningServer | undefined;
  #child: ChildProcess | undefined;
  #output = "";
  /** How the process ended, if it has. */
  #end: Error | undefined;
  /** The open request in which the process waits for an invocation. */
  #waiting: ServerResponse | undefined;
  #onChange = () => {};
  /** By their request id. */
  readonly #invoked = new Map<string, Invoked>();

  /** @param graceMilliseconds by which a process may exceed the function's time-out: this machine may be busy. */
  constructor({ graceMilliseconds = 20_000 } = {}) {
    this.#graceMilliseconds = graceMilliseconds;
  }

  /** @param environment of the function, without the address of the Runtime API. */
  async start(environment: Readonly<Record<string, string>>): Promise<void> {
    const server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server = await listen(server, 0);
    const nativeClient = fileURLToPath(new URL("./native-client.cjs", import.meta.url));
    const client = fileURLToPath(import.meta.resolve("aws-lambda-ric"));
    this.#child = spawn(process.execPath, ["--require", nativeClient, client], {
      env: { ...setByLambda, ...environment, AWS_LAMBDA_RUNTIME_API: new URL(this.#server.url).host },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    this.#child.once("close", (code, signal) => {
      this.#end = new Error(`the process ended with ${code ?? signal}: ${this.#output.slice(-2_000)}`);
      this.#onChange();
    });
    await this.#untilIdle(20_000);
  }

  /** The log of the process so far. */
  get output(): string {
    return this.#output;
  }

  /**
   * Gives the function an event, and waits until its process asks for the next one.
   * @throws {Error} when the process ends before, or is not idle at the function's time-out.
   */
  async invoke(
    event: unknown,
    { read = readAll, remainingMilliseconds = 27_000 }: How = {},
  ): Promise<Invoked> {
    const waiting = this.#waiting;
    if (waiting === undefined) throw this.#end ?? new Error("the process is not idle");
    this.#waiting = undefined;
    const requestId = randomUUID();
    const invoked = new Invoked(read);
    this.#invoked.set(requestId, invoked);
    waiting.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": requestId,
      "lambda-runtime-deadline-ms": Date.now() + remainingMilliseconds,
      "lambda-runtime-invoked-function-arn": "arn:aws:lambda:eu-west-1:123456789012:function:a-function",
    });
    waiting.end(JSON.stringify(event));
    await this.#untilIdle(remainingMilliseconds + this.#graceMilliseconds);
    return invoked;
  }

  /** The processor time that the process has used until now, in milliseconds. */
  async cpuMilliseconds(): Promise<number> {
    if (this.#child === undefined) throw new Error("the process is not started");
    const usage = once(this.#child, "message", { signal: AbortSignal.timeout(this.#graceMilliseconds) });
    this.#child.send("usage");
    const [{ user, system }] = z
      .tuple([z.object({ user: z.number(), system: z.number() }), z.unknown()])
      .parse(await usage);
    return (user + system) / 1_000;
  }

  async close(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#server?.close();
  }

  #untilIdle(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#end ??= new Error(
          `timed out, and did not ask for an invocation: ${this.#output.slice(-2_000)}`,
        );
        this.#onChange();
      }, milliseconds);
      this.#onChange = () => {
        if (this.#waiting === undefined && this.#end === undefined) return;
        clearTimeout(timer);
        if (this.#end === undefined) resolve();
        else reject(this.#end);
      };
      this.#onChange();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [what, requestId = ""] = (request.url ?? "").split("/").reverse();
    if (what === "next") {
      this.#waiting = response;
      this.#onChange();
      return;
    }
    const invoked = this.#invoked.get(requestId);
    if (invoked === undefined) throw new Error(`unknown request ${requestId}`);
    if (request.headers["lambda-runtime-function-response-mode"] === "streaming") {
      await invoked.read(request, (chunk) => invoked.keep(chunk));
      invoked.isWhole = request.complete;
      invoked.errorType = trailersSchema.parse(request.trailers)["lambda-runtime-function-error-type"];
    } else if (what === "response") invoked.result = await json(request);
    else invoked.errorType = errorSchema.parse(await json(request)).errorType;
    response.writeHead(202).end('{"status":"OK"}');
  }
}
