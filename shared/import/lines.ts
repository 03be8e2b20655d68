import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import type { Problems } from "./problems.ts";

/** Whole lines of a file, as many as were read at once. */
export interface Lines {
  /** Each line ends in `\n`, but perhaps the last one of the file. */
  readonly text: string;
  /** The number of the first one, counted from 1. */
  readonly first: number;
  readonly count: number;
}

/** The source of lines, and callbacks while they are read. */
export interface LinesOptions {
  /** The position of the file among those of the import. */
  readonly file: number;
  readonly problems: Problems;
  /** Called with the number of further bytes that were read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** In bytes, without its end. */
const longestLine = 65_536;

const bytesAtOnce = 262_144;
const newline = 0x0a;
const byteOrderMark = Buffer.from("\ufeff");

/**
 * The lines of a UTF-8 file of any size, `bytesAtOnce` and one line in memory. Ends early, with a problem, where a
 * file cannot be read, is not UTF-8 or has a line that is too long.
 */
export async function* linesOf(
  path: string,
  { file, problems, onBytes }: LinesOptions,
): AsyncGenerator<Lines> {
  let first = 1;
  try {
    for await (const bytes of wholeLinesOf(path, onBytes)) {
      const { lines, reason } = inspect(bytes);
      if (reason !== undefined) return problems.add(file, reason, first + lines);
      const start = first === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
      yield { text: bytes.toString("utf8", start ? byteOrderMark.length : 0), first, count: lines };
      first += lines;
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    problems.add(file, `cannot be read: ${error.code}`);
  }
}

/** Each chunk ends where a line does, but for the last one and in the midst of a line that is too long. */
async function* wholeLinesOf(path: string, onBytes?: (bytes: number) => void): AsyncGenerator<Buffer> {
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
function inspect(bytes: Buffer): { readonly lines: number; readonly reason?: string } {
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
