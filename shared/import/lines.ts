import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";

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
 * Chunks of a file of any size, `bytesAtOnce` and one line in memory. Each ends where a line does, but for the last one
 * and in the midst of a line that is too long.
 * @throws {Error} of the file system, with its `code`.
 */
export async function* wholeLinesOf(path: string, onBytes?: (bytes: number) => void): AsyncGenerator<Buffer> {
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: bytesAtOnce })) {
    onBytes?.(chunk.length);
    const bytes = Buffer.concat([begun, chunk]);
    const ended = bytes.lastIndexOf(newline) + 1;
    const end = bytes.length - ended > longestLine ? bytes.length : ended;
    if (end > 0) yield bytes.subarray(0, end);
    begun = bytes.subarray(end);
  }
  if (begun.length > 0) yield begun;
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
