import type { Writable } from "node:stream";

export const awslambda: typeof globalThis.awslambda;

export class ResponseStream extends Writable {
  constructor(send: (chunks: readonly Uint8Array[]) => Promise<void>);
}
