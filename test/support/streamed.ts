import type { Context, StreamifyHandler } from "aws-lambda";
import * as z from "zod";
import { awslambda, ResponseStream } from "../../tools/local/lambda/response-stream.mjs";

// Handlers find it when they are loaded, as in Lambda.
Object.assign(globalThis, { awslambda });

const head = z.object({ statusCode: z.number(), headers: z.record(z.string(), z.string()) });

/** What a handler has streamed. */
interface Streamed extends z.infer<typeof head> {
  readonly body: Buffer;
  /** What the handler failed with. */
  readonly fault: unknown;
}

/** How a call of a handler differs from one of a caller who reads everything at once. */
interface InvocationOptions {
  readonly getRemainingTimeInMillis?: () => number;
  /** Takes chunks; resolves when the caller has read them. */
  readonly read?: (chunks: readonly Uint8Array[]) => Promise<void>;
  /** Resolves when the caller has read all that is still buffered. */
  readonly flush?: () => Promise<void>;
}

/** Calls a handler that streams, and collects its response. */
export async function callStreamed(
  handler: StreamifyHandler<unknown, void>,
  event: unknown,
  {
    getRemainingTimeInMillis = () => 27_000,
    read = async () => {},
    flush = async () => {},
  }: InvocationOptions = {},
): Promise<Streamed> {
  const written: Uint8Array[] = [];
  const stream = new ResponseStream({
    send: async (chunks) => {
      written.push(...chunks.map((chunk) => Buffer.from(chunk)));
      await read(chunks);
    },
    flush,
  });
  // The members that handlers read.
  const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis } as Context;
  const fault = await Promise.resolve(handler(event, stream as never, context)).then(
    () => undefined,
    (error: unknown) => error,
  );
  const bytes = Buffer.concat(written);
  const end = bytes.indexOf(Buffer.alloc(8));
  const { statusCode, headers } = head.parse(JSON.parse(bytes.subarray(0, end).toString()));
  return { statusCode, headers, body: bytes.subarray(end + 8), fault };
}
