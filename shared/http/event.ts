import * as z from "zod/mini";

/**
 * What the pipeline reads of an API Gateway proxy event (REST API, payload 1.0). Checked by hand-picked members
 * because the context of a Lambda authorizer is part of it.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway.html
 */
const proxyEvent = z.object({
  headers: z.nullish(z.record(z.string(), z.optional(z.string()))),
  pathParameters: z.nullish(z.record(z.string(), z.optional(z.string()))),
  body: z.nullish(z.string()),
  isBase64Encoded: z._default(z.boolean(), false),
  requestContext: z.object({
    authorizer: z.optional(z.unknown()),
    identity: z.object({ sourceIp: z.string() }),
  }),
});

/** A request as API Gateway hands it over, names and encodings made plain. */
export interface IncomingRequest {
  readonly header: (name: string) => string | undefined;
  /** Percent-encoded, as received. */
  readonly pathParameters: Readonly<Record<string, string | undefined>>;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
  readonly authorizer: unknown;
  readonly sourceIp: string;
}

/** @throws {z.ZodError} when the event is not one of API Gateway: a fault of the stack, not of the caller. */
export function incomingRequest(event: unknown): IncomingRequest {
  const { headers, pathParameters, body, isBase64Encoded, requestContext } = proxyEvent.parse(event);
  const sent = Object.entries(headers ?? {});
  return {
    header: (name) => sent.find(([key]) => key.toLowerCase() === name)?.[1],
    pathParameters: pathParameters ?? {},
    body: body ?? null,
    isBase64Encoded,
    authorizer: requestContext.authorizer,
    sourceIp: requestContext.identity.sourceIp,
  };
}
