import * as z from "zod";
import type { oas31, ZodOpenApiCallbackObject, ZodOpenApiCallbacksObject } from "zod-openapi";
import type { Endpoint } from "../../shared/endpoint.ts";
import { callbackExamples, referencesTo } from "./examples.ts";
import { reference } from "./reference.ts";

/**
 * Finds what an operation sends later. Made once for all operations and paths that lead to it, it becomes one
 * component.
 * @throws {Error} for an operation that names another one which has no callback.
 */
export function callbacksOf(
  endpoints: readonly Endpoint[],
): (endpoint: Endpoint) => ZodOpenApiCallbacksObject | undefined {
  const made = new Map(
    endpoints.flatMap((endpoint) => {
      const { operationId, callback } = endpoint;
      return callback === undefined
        ? []
        : [[operationId, { [callback.name]: callbackObject(endpoint, callback) }] as const];
    }),
  );
  return ({ operationId, sameCallbackAs }) => {
    const callbacks = made.get(sameCallbackAs ?? operationId);
    if (sameCallbackAs !== undefined && callbacks === undefined) {
      throw new Error(`${operationId} leads to the callback of ${sameCallbackAs}, which has none`);
    }
    return callbacks;
  };
}

/** The token of callbacks. It is no parameter: OpenAPI ignores one of the name `Authorization`. */
export function sinkToken(endpoints: readonly Endpoint[]): Record<string, oas31.SecuritySchemeObject> {
  const description = endpoints.flatMap(({ callback }) => callback?.token ?? [])[0];
  return description === undefined ? {} : { sinkToken: { type: "http", scheme: "bearer", description } };
}

function callbackObject(
  endpoint: Endpoint,
  callback: NonNullable<Endpoint["callback"]>,
): ZodOpenApiCallbackObject {
  const { name: id, url, summary, description, headers, body, answers } = callback;
  return {
    id,
    [url]: {
      post: {
        operationId: id,
        summary,
        description,
        security: [{ sinkToken: [] }, {}],
        requestParams: { header: z.object(headers) },
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: body, examples: referencesTo(callbackExamples(endpoint)) },
          },
        },
        responses: Object.fromEntries(
          Object.entries(answers).map(([status, meaning]) => [
            status,
            {
              description: meaning,
              ...(meaning.includes("Retry-After")
                ? { headers: { "Retry-After": reference("headers", "RetryAfter") } }
                : {}),
            },
          ]),
        ),
      },
    },
  };
}
