/**
 * Mapping templates: the Velocity Template Language with the variables of API Gateway.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
import * as z from "zod";
import { GatewayError } from "./gateway-responses.ts";
import { headerAsSent, type ReceivedRequest } from "./received-request.ts";

/** A rendered template: its text, and the headers that it overrides, with names in lower case. */
interface Rendered {
  readonly text: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const overrides = z.record(z.string(), z.string());

/** The only method of Java's `String` that the templates use. */
const javaMatches = {
  uid: "matches",
  match: ({ property, context }: { property: string; context: unknown }) =>
    property === "matches" && typeof context === "string",
  resolve: ({ context, params }: { context: unknown; params: unknown[] }) =>
    new RegExp(`^(?:${params[0]})$`).test(String(context)),
};

/** @throws {GatewayError} if the template uses a variable or a method that is not supported locally. */
export async function renderMapping(template: string, request: ReceivedRequest): Promise<Rendered> {
  // Loaded on demand: few requests need a template.
  const { Compile, parse } = await import("velocityjs");
  const header: Record<string, unknown> = {};
  const variables = {
    context: { httpMethod: request.method, requestId: request.requestId, responseOverride: { header } },
    input: {
      params: () => ({ header: { get: (name: string) => headerAsSent(request, name) ?? "" } }),
    },
  };
  const text = new Compile(parse(template), { customMethodHandlers: [javaMatches] }).render(variables);
  // Velocity leaves unknown references in the text.
  if (text.includes("$"))
    throw new GatewayError("API_CONFIGURATION_ERROR", `Not supported locally: ${text.trim()}`);
  const headers = Object.entries(overrides.parse(header));
  return { text, headers: headers.map(([name, value]) => [name.toLowerCase(), value] as const) };
}
