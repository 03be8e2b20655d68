import type { ClientRequest, IncomingMessage } from "node:http";
import { AttemptAborted } from "./attempt-timer.ts";

/**
 * Sends a request and reads the body of its 200. Not by `fetch`: when that rejects a response for its headers, the body
 * that nobody reads ends the process as soon as its connection breaks or its signal aborts.
 * @param maxBytes limits the body, as sent and decompressed.
 * @throws {AttemptAborted} with a code that is never text from or about the server; the error of the connection; the
 * signal's reason.
 */
export async function readDocument(
  request: ClientRequest,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const end = () => request.destroy(new AttemptAborted("OVERTIME"));
  signal.addEventListener("abort", end);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
      // Without an error where the server has switched protocols.
      request.once("close", () => reject(new AttemptAborted("CLOSED")));
      request.end();
    });
    if (response.statusCode !== 200) throw new AttemptAborted(`STATUS_${response.statusCode}`);
    const encoding = response.headers["content-encoding"]?.toLowerCase() ?? "identity";
    if (!["identity", "gzip", "deflate"].includes(encoding)) throw new AttemptAborted("ENCODING");
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new AttemptAborted("TOO_LARGE");
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    if (encoding === "identity") return body;
    // Some servers compress although nobody asked.
    const { unzipSync } = await import("node:zlib");
    return unzipSync(body, { maxOutputLength: maxBytes });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    request.destroy();
  }
}
