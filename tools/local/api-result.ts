import { buffer } from "node:stream/consumers";
import type { FunctionId } from "../../infra/functions.ts";
import { streamedReply } from "./gateway/streamed-reply.ts";
import type { InvokeOptions } from "./lambda/functions.ts";
import type { LocalBackend } from "./service.ts";

/**
 * A function's response to an API event, as the result of a proxy integration. A streamed response is buffered; its
 * body is base64 if it has a content encoding.
 * @throws {InvocationError} when the function does not answer.
 */
export async function apiResult(
  { declarations, invoke, stream }: LocalBackend,
  id: FunctionId,
  event: unknown,
  options: InvokeOptions,
): Promise<unknown> {
  const isStreamed = declarations.api.methods.some(
    ({ functionId, streamed }) => functionId === id && streamed,
  );
  if (!isStreamed) return await invoke(id, event, options);
  const { status, headers, body } = await streamedReply(await stream(id, event, options));
  const isBase64Encoded = headers.some(([name]) => name === "content-encoding");
  const bytes = await buffer(body);
  return {
    statusCode: status,
    headers: Object.fromEntries(headers),
    body: bytes.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}
