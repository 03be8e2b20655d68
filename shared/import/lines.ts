import { isUtf8 } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";

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
 * Reads a file of any size in chunks, two in memory: the next one is read ahead. Chunks end at line ends, except for
 * the last one and within a line that is too long. Each has memory of its own, which threads can share.
 * @param onBytes called with each piece of the file, in order; its memory is reused.
 * @param pool chunks that are no longer used, whose memory is reused.
 * @throws {Error} the file system's error, with its `code`.
 */
export async function* wholeLinesOf(
  path: string,
  onBytes?: (bytes: Uint8Array) => void,
  pool: Buffer[] = [],
): AsyncGenerator<Buffer> {
  const file = await open(path);
  let [buffer, begun] = [newBuffer(pool), 0];
  let reading = fill(file, buffer, begun, onBytes);
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
      reading = fill(file, buffer, begun, onBytes);
      // Awaited when the previous chunk has been consumed; an earlier rejection must not end the process.
      reading.catch(() => undefined);
      if (end > 0) yield bytes.subarray(0, end);
    }
  } finally {
    await Promise.allSettled([reading]);
    await file.close();
  }
}

/**
 * Reads `bytesAtOnce` after the carried-over start of a chunk, or less at the end of a file. A pipe delivers them in
 * pieces.
 */
async function fill(
  file: FileHandle,
  buffer: Buffer,
  begun: number,
  onBytes?: (bytes: Uint8Array) => void,
): Promise<number> {
  const end = begun + bytesAtOnce;
  let at = begun;
  while (at < end) {
    const { bytesRead } = await file.read(buffer, at, end - at);
    if (bytesRead === 0) break;
    onBytes?.(buffer.subarray(at, at + bytesRead));
    at += bytesRead;
  }
  return at;
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
