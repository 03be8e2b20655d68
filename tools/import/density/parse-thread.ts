/** A thread that parses lines: see `parser-threads.ts`. */
import { parentPort } from "node:worker_threads";
import {
  LineParser,
  type LinesToParse,
} from "../../../functions/population-density/import/rows/parse-lines.ts";

const parser = new LineParser();

parentPort?.on("message", ({ bytes, ...lines }: Omit<LinesToParse, "bytes"> & { bytes: Uint8Array }) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  parentPort?.postMessage(parser.parse({ ...lines, bytes: buffer }));
});
