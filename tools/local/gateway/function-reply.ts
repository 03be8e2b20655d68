/**
 * The result of a function as an HTTP response.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format
 */
import { validateHeaderName, validateHeaderValue } from "node:http";
import * as z from "zod";
import { GatewayError, type Reply } from "./gateway-responses.ts";

const headerValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const headSchema = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), headerValue).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(headerValue)).nullish(),
});
const resultSchema = z.object({
  ...headSchema.shape,
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html */
const droppedHeaders = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const remappedHeaders = new Set([
  "authorization",
  "content-md5",
  "date",
  "expect",
  "host",
  "max-forwards",
  "proxy-authenticate",
  "server",
  "user-agent",
  "via",
  "www-authenticate",
]);

/**
 * Sends a base64 body as bytes, because the API treats all media types as binary.
 * @throws {GatewayError} if the result is not that of a proxy integration.
 */
export function functionReply(result: unknown): Reply {
  const { body, isBase64Encoded, ...head } = parsed(resultSchema, result);
  return { ...replyHead(head), body: isBase64Encoded ? Buffer.from(body ?? "", "base64") : (body ?? "") };
}

/**
 * Status and headers, from a result or from the metadata of a streamed response.
 * @throws {GatewayError} if they are not those of a proxy integration.
 */
export function replyHead(head: unknown): Pick<Reply, "status" | "headers"> {
  const { statusCode, headers, multiValueHeaders } = parsed(headSchema, head);
  return {
    status: statusCode,
    headers: replyHeaders({
      ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, [value]])),
      ...multiValueHeaders,
    }),
  };
}

function parsed<Schema extends z.ZodType>(schema: Schema, result: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(result);
  if (error === undefined) return data;
  throw new GatewayError("INTEGRATION_FAILURE", `Malformed result: ${z.prettifyError(error)}`);
}

function replyHeaders(headers: Readonly<Record<string, readonly string[]>>): Reply["headers"] {
  const entries: (readonly [string, string])[] = [];
  for (const [name, values] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (droppedHeaders.has(lowerCase)) continue;
    const sentName = remappedHeaders.has(lowerCase) ? `x-amzn-remapped-${lowerCase}` : lowerCase;
    for (const value of values) {
      checkHeader(sentName, value);
      entries.push([sentName, value]);
    }
  }
  const hasType = entries.some(([name]) => name === "content-type");
  return hasType ? entries : [...entries, ["content-type", "application/json"]];
}

function checkHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    throw new GatewayError("INTEGRATION_FAILURE", `Malformed header ${name}`, { cause: error });
  }
}
