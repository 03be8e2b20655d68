import * as z from "zod";
import type { oas31, ZodOpenApiCallbackObject, ZodOpenApiCallbacksObject } from "zod-openapi";
import type { Endpoint } from "../../shared/endpoint.ts";
import { callbackExamples, referencesTo } from "./examples.ts";
import { reference } from "./reference.ts";

/** What an operation sends later. Made once for all paths of an endpoint, it becomes one component. */
export function callbacksOf(endpoint: Endpoint): ZodOpenApiCallbacksObject | undefined {
  const { callback } = endpoint;
  return callback && { [callback.name]: callbackObject(endpoint, callback) };
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
