import { isUtf8 } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";

/** In bytes, without its end. */
export const longestLine = 65_536;

const bytesAtOnce = 262_144;
const newline = 0x0a;
const byteOrderMark = Buffer.from("\ufeff");

/** The beginning of a file without the mark that some programs put there. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  const isMarked = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return isMarked ? bytes.subarray(byteOrderMark.length) : bytes;
}

/**
 * Chunks of a file of any size, two in memory: the next one is read before it is asked for. Each ends where a line
 * does, but for the last one and in the midst of a line that is too long. Each is memory of its own, which may be given
 * to another thread.
 * @param bufferPool memory of chunks that nobody reads any more: it is used again.
 * @throws {Error} of the file system, with its `code`.
 */
export async function* wholeLinesOf(
  path: string,
  onBytes?: (bytes: number) => void,
  bufferPool: ArrayBuffer[] = [],
): AsyncGenerator<Buffer> {
  const file = await open(path);
  let [buffer, begun] = [newBuffer(bufferPool), 0];
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
      // What was given away may be another thread's by then.
      buffer = newBuffer(bufferPool);
      begun = bytes.copy(buffer, 0, end);
      reading = fill(file, buffer, begun, onBytes);
      // Awaited when the chunk before was taken; that it fails earlier must not end the process.
      reading.catch(() => undefined);
      if (end > 0) yield bytes.subarray(0, end);
    }
  } finally {
    await Promise.allSettled([reading]);
    await file.close();
  }
}

/** Reads `bytesAtOnce` behind what a chunk begins with, less at the end of a file. A pipe gives them bit by bit. */
async function fill(
  file: FileHandle,
  buffer: Buffer,
  begun: number,
  onBytes?: (bytes: number) => void,
): Promise<number> {
  const end = begun + bytesAtOnce;
  let at = begun;
  while (at < end) {
    const { bytesRead } = await file.read(buffer, at, end - at);
    if (bytesRead === 0) break;
    onBytes?.(bytesRead);
    at += bytesRead;
  }
  return at;
}

const chunkBytes = longestLine + bytesAtOnce;

function newBuffer(bufferPool: ArrayBuffer[]): Buffer {
  const memory = bufferPool.pop();
  return memory?.byteLength === chunkBytes ? Buffer.from(memory) : Buffer.allocUnsafeSlow(chunkBytes);
}

/** How many lines there are; with a reason, how many there are before the one that is refused. */
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
