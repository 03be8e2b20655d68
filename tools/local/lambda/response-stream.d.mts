import type { Writable } from "node:stream";

export const awslambda: typeof globalThis.awslambda;

export class ResponseStream extends Writable {
  constructor(receiver: {
    readonly send: (chunks: readonly Uint8Array[]) => Promise<void>;
    readonly flush: () => Promise<void>;
  });
}
