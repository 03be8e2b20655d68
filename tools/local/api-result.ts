import { buffer } from "node:stream/consumers";
import { streamedReply } from "./gateway/streamed-reply.ts";
import type { InvokeOptions, LocalBackend } from "./service.ts";

/**
 * A function's response to an API event, as the result of a proxy integration. A streamed response is buffered; its
 * body is base64 if it has a content encoding.
 * @throws {InvocationError} when the function does not answer.
 */
export async function apiResult(
  { template, invoke, stream }: LocalBackend,
  logicalId: string,
  event: unknown,
  options: InvokeOptions,
): Promise<unknown> {
  const isStreamed = template.api.routes.some(
    ({ integration }) =>
      "functionLogicalId" in integration &&
      integration.functionLogicalId === logicalId &&
      integration.isStreamed,
  );
  if (!isStreamed) return await invoke(logicalId, event, options);
  const { status, headers, body } = await streamedReply(await stream(logicalId, event, options));
  const isBase64Encoded = headers.some(([name]) => name === "content-encoding");
  const bytes = await buffer(body);
  return {
    statusCode: status,
    headers: Object.fromEntries(headers),
    body: bytes.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}
