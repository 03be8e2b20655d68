import * as z from "zod";
import type { MockIntegration } from "../template/mock-integration.ts";
import { GatewayError, type Reply } from "./gateway-responses.ts";
import { renderMapping } from "./mapping-template.ts";
import { headerOf, type ReceivedRequest } from "./received-request.ts";

const chosenSchema = z.object({ statusCode: z.int() });

/**
 * The response of a mock integration.
 * @throws {GatewayError} if there is no template for the body's type, or the templates select no response.
 */
export async function mockReply(
  { requestTemplates, responses }: MockIntegration,
  request: ReceivedRequest,
): Promise<Reply> {
  const type =
    headerOf(request, "content-type")?.split(";", 1)[0]?.trim().toLowerCase() || "application/json";
  const requestTemplate = requestTemplates[type];
  if (requestTemplate === undefined) throw new GatewayError("UNSUPPORTED_MEDIA_TYPE");
  const chosen = chosenSchema.safeParse(parsed((await renderMapping(requestTemplate, request)).text));
  const response = responses.find(({ pattern }) => pattern.test(String(chosen.data?.statusCode)));
  if (response === undefined)
    throw new GatewayError(
      "API_CONFIGURATION_ERROR",
      "No response matches what the request template renders",
    );
  const { text, headers } = await renderMapping(response.template, request);
  const fixed = Object.entries(response.headers).map(
    ([name, value]) => [name.toLowerCase(), headerValue(value, request)] as const,
  );
  return {
    status: response.status,
    headers: [...new Map([["content-type", "application/json"], ...fixed, ...headers])],
    body: text.trim(),
  };
}

function headerValue(source: string, { requestId }: ReceivedRequest): string {
  const fixed = /^'(.*)'$/s.exec(source)?.[1];
  if (fixed !== undefined) return fixed;
  if (source === "context.requestId") return requestId;
  throw new GatewayError("API_CONFIGURATION_ERROR", `${source} is not supported locally`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GatewayError("API_CONFIGURATION_ERROR", "The request template does not render JSON", {
      cause: error,
    });
  }
}
