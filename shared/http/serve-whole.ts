import type { APIGatewayProxyResult, Context } from "aws-lambda";
import type { StreamedEndpoint } from "../endpoint.ts";
import type { Handle } from "./request.ts";
import { headOf, type Reply } from "./response.ts";
import { respond } from "./serve.ts";

/**
 * Creates the handler of a streamed endpoint where responses cannot be streamed, as with `sam local`: each is returned
 * whole, and may have 6 MB, Lambda's limit. A fault while the body is made fails the invocation.
 */
export function serveWhole<const E extends StreamedEndpoint>(
  endpoint: E,
  handle: Handle<E>,
): (event: unknown, context: Context) => Promise<APIGatewayProxyResult> {
  return async (event, context) => {
    const { reply, report } = await respond(endpoint, handle, event, context);
    const body = await bytesOf(reply);
    report({ bytes: body.length });
    // Compressed bytes are not text.
    const isBase64Encoded = reply.headers["content-encoding"] !== undefined;
    return { ...headOf(reply), body: body.toString(isBase64Encoded ? "base64" : "utf8"), isBase64Encoded };
  };
}

async function bytesOf({ body, onEnd }: Reply): Promise<Buffer> {
  if (typeof body === "string") return Buffer.from(body);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    await onEnd?.();
  }
}
