import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described } from "../../shared/schemas.ts";

const server = z.object({
  url: described(z.string(), "The address that paths follow."),
  description: described(z.optional(z.string()), "Which server it is."),
});

/** `GET /openapi.json`: the service's OpenAPI document, for client generators and for trying it out. */
export const publishDocument = endpoint({
  id: "openapi/publish",
  operationId: "publishDocument",
  summary: "This document",
  description:
    "The OpenAPI document of the service. The first of its servers is the one that was asked. Needs no token.",
  method: "GET",
  path: "/openapi.json",
  aliases: [],
  scope: null,
  publicBecause:
    "The description of the API, which is public: it is the same for everybody and holds no data.",
  responses: {
    200: z
      .looseObject({
        openapi: described(z.string(), "The version of the OpenAPI Specification."),
        info: described(
          z.looseObject({
            title: described(z.string(), "The name of the service."),
            version: described(z.string(), "The version of the service."),
          }),
          "What the document is about.",
        ),
        servers: described(z.array(server), "The server that was asked, then others."),
        paths: described(z.record(z.string(), z.unknown()), "The operations by path."),
      })
      .check(
        z.meta({
          id: "OpenApiDocument",
          description: "An OpenAPI document (OpenAPI Specification 3.1).",
          examples: [
            {
              openapi: "3.1.0",
              info: { title: "Network Capabilities Service", version: "0.1.0" },
              servers: [{ url: "https://api.example.com/live", description: "The server that was asked." }],
              paths: {},
            },
          ],
        }),
      ),
  },
  headers: { "cache-control": "public, max-age=300", vary: "accept-encoding" },
  errors: ["INVALID_ARGUMENT"],
});
