/**
 * The part of Lambda's Node.js runtime that streaming handlers use.
 * https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html
 */
import { Writable } from "node:stream";

const streaming = Symbol.for("aws.lambda.runtime.handler.streaming");

/**
 * The global object that the runtime provides.
 * @type {typeof globalThis.awslambda}
 */
export const awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { [streaming]: "response" }),
  HttpResponseStream: {
    /**
     * The first `write` precedes its chunk with the metadata and eight zero bytes; without a `write` there is no
     * metadata.
     */
    from: (stream, metadata) => {
      stream.setContentType("application/vnd.awslambda.http-integration-response");
      stream.beforeFirstWrite = Buffer.concat([Buffer.from(JSON.stringify(metadata)), Buffer.alloc(8)]);
      return stream;
    },
  },
};

/** Whether a handler was made by `streamifyResponse`. */
export function isStreaming(handler) {
  return handler[streaming] === "response";
}

/**
 * The stream that a handler writes its response to. In Lambda it is an HTTP request, which closes when all of it has
 * been received; if destroyed earlier, it emits an error.
 */
export class ResponseStream extends Writable {
  beforeFirstWrite = new Uint8Array();
  #receiver;
  #isWritten = false;

  /**
   * @param {{ send: (chunks: readonly Uint8Array[]) => Promise<void>, flush: () => Promise<void> }} receiver `send` takes
   * chunks and resolves when it is ready for more; `flush` resolves when all but the rest have been taken.
   */
  constructor(receiver) {
    super({ highWaterMark: 65_536 });
    this.#receiver = receiver;
  }

  setContentType() {
    if (this.#isWritten) throw new Error("Cannot set content-type, too late.");
  }

  write(written, ...rest) {
    const callback = rest.find((argument) => typeof argument === "function");
    const chunk = written instanceof Uint8Array ? written : Buffer.from(textOf(written));
    const prelude = this.#isWritten ? new Uint8Array() : this.beforeFirstWrite;
    this.#isWritten = true;
    return super.write(Buffer.concat([prelude, chunk]), callback);
  }

  _write(chunk, _encoding, callback) {
    this.#receiver.send([chunk]).then(() => callback(), callback);
  }

  _writev(written, callback) {
    this.#receiver.send(written.map(({ chunk }) => chunk)).then(() => callback(), callback);
  }

  _final(callback) {
    this.#receiver.flush().then(() => callback(), callback);
  }

  _destroy(error, callback) {
    const hangUp = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    callback(error ?? (this.writableFinished ? null : hangUp));
  }
}

function textOf(written) {
  return typeof written === "string" ? written : JSON.stringify(written);
}
