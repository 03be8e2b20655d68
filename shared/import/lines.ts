import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";

/** Maximum length of a line in bytes, without its line break. */
export const longestLine = 65_536;

const bytesAtOnce = 262_144;
const newline = 0x0a;
const byteOrderMark = Buffer.from("\ufeff");

/** The beginning of a file, without its byte order mark. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  const isMarked = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return isMarked ? bytes.subarray(byteOrderMark.length) : bytes;
}

/**
 * Reads a file of any size, or a pipe.
 * @returns its bytes as they come; their memory is reused.
 * @throws {Error} the file system's error, with its `code`.
 */
export async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    const piece = Buffer.allocUnsafeSlow(bytesAtOnce);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, bytesAtOnce, null);
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/**
 * Divides a text of any size into chunks, two in memory: the next one is read ahead. Chunks end at line ends, except for
 * the last one and within a line that is too long. Each has memory of its own, which threads can share.
 * @param text in pieces of any length.
 * @param pool chunks that are no longer used, whose memory is reused.
 */
export async function* wholeLinesOf(
  text: AsyncIterable<Uint8Array>,
  pool: Buffer[] = [],
): AsyncGenerator<Buffer> {
  const pieces = new Pieces(text);
  let [buffer, begun] = [newBuffer(pool), 0];
  let reading = pieces.fill(buffer, begun);
  try {
    for (;;) {
      const filled = await reading;
      const bytes = buffer.subarray(0, filled);
      if (filled < begun + bytesAtOnce) {
        if (filled > 0) yield bytes;
        return;
      }
      const ended = bytes.lastIndexOf(newline) + 1;
      const end = bytes.length - ended > longestLine ? bytes.length : ended;
      buffer = newBuffer(pool);
      begun = bytes.copy(buffer, 0, end);
      reading = pieces.fill(buffer, begun);
      // Awaited when the previous chunk has been consumed; an earlier rejection must not end the process.
      reading.catch(() => undefined);
      if (end > 0) yield bytes.subarray(0, end);
    }
  } finally {
    await Promise.allSettled([reading]);
    await pieces.end();
  }
}

/** A text as it is read, piece by piece. */
class Pieces {
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** What is left of the piece that was read last. */
  #left: Uint8Array = new Uint8Array();

  constructor(text: AsyncIterable<Uint8Array>) {
    this.#pieces = text[Symbol.asyncIterator]();
  }

  /**
   * Puts `bytesAtOnce` after the carried-over start of a chunk, or less at the end of the text.
   * @returns how many bytes the chunk has then.
   */
  async fill(buffer: Buffer, begun: number): Promise<number> {
    const end = begun + bytesAtOnce;
    let at = begun;
    while (at < end) {
      if (this.#left.length === 0) {
        const { done, value } = await this.#pieces.next();
        if (done) break;
        this.#left = value;
      }
      const taken = this.#left.subarray(0, end - at);
      buffer.set(taken, at);
      at += taken.length;
      this.#left = this.#left.subarray(taken.length);
    }
    return at;
  }

  /** Reads no more. */
  async end(): Promise<void> {
    await this.#pieces.return?.();
  }
}

const chunkBytes = longestLine + bytesAtOnce;

function newBuffer(pool: Buffer[]): Buffer {
  return Buffer.from(pool.pop()?.buffer ?? new SharedArrayBuffer(chunkBytes));
}

/** Counts lines; with a reason, those before the line that is refused. */
export function inspect(bytes: Buffer): { readonly lines: number; readonly reason?: string } {
  const isText = isUtf8(bytes);
  let lines = 0;
  for (let at = 0; at < bytes.length; lines++) {
    const next = bytes.indexOf(newline, at);
    const end = next < 0 ? bytes.length : next;
    if (end - at > longestLine) return { lines, reason: `is longer than ${longestLine} bytes` };
    if (!isText && !isUtf8(bytes.subarray(at, end))) return { lines, reason: "is not UTF-8" };
    at = end + 1;
  }
  return { lines };
}
