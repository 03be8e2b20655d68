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
  operationId: "getOpenApiDocument",
  summary: "Read the OpenAPI document",
  description:
    "The OpenAPI document of the service. The first of its servers is the one that was asked, and the " +
    "times of its examples are about now. Needs no token.",
  method: "GET",
  path: "/openapi.json",
  aliases: [],
  scope: null,
  publicBecause:
    "The description of the API, which is public: it is the same for everybody and holds no data.",
  query: {
    aliases: z.optional(z.enum(["true", "false"], "must be true or false")).check(
      z.meta({
        description: "`false` leaves out the second path of each operation, for generators of clients.",
      }),
    ),
  },
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
              info: { title: "Network Capabilities Service", version: "0.2.0" },
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

const links = z.array(
  z.object({
    href: z.string().check(z.meta({ description: "Where the link leads." })),
    type: z.optional(z.string().check(z.meta({ description: "The media type of what is there." }))),
  }),
);

/** `GET /.well-known/api-catalog` (RFC 9727): where the APIs are and what describes them. */
export const publishCatalog = endpoint({
  id: "openapi/catalog",
  operationId: "getApiCatalog",
  summary: "Catalogue of the APIs",
  description:
    "The APIs of the service and the document that describes them, as links (RFC 9727, RFC 9264). " +
    "`HEAD` is answered too. Needs no token.",
  method: "GET",
  answersHead: true,
  path: "/.well-known/api-catalog",
  aliases: [],
  scope: null,
  publicBecause: "The addresses of the APIs, which are public: they are the same for everybody.",
  mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  responses: {
    200: z
      .object({
        linkset: z
          .array(
            z.object({
              anchor: z.string().check(z.meta({ description: "What the links begin at." })),
              item: z.optional(links).check(z.meta({ description: "Of the catalogue: its APIs." })),
              "service-desc": z
                .optional(links)
                .check(z.meta({ description: "Of an API: its description for programs." })),
              "service-doc": z
                .optional(links)
                .check(z.meta({ description: "Of an API: its description for people and agents." })),
            }),
          )
          .check(z.meta({ description: "The catalogue itself, then each of the APIs." })),
      })
      .check(
        z.meta({
          id: "ApiCatalog",
          description: "An API catalogue (RFC 9727) as a set of links (RFC 9264).",
          examples: [
            {
              linkset: [
                {
                  anchor: "https://api.example.com/live/.well-known/api-catalog",
                  item: [{ href: "https://api.example.com/live/qualityondemand" }],
                },
                {
                  anchor: "https://api.example.com/live/qualityondemand",
                  "service-desc": [
                    { href: "https://api.example.com/live/openapi.json", type: "application/json" },
                  ],
                  "service-doc": [
                    { href: "https://api.example.com/live/reference", type: "text/html" },
                    { href: "https://api.example.com/live/llms.txt", type: "text/plain" },
                  ],
                },
              ],
            },
          ],
        }),
      ),
  },
  // Relative, as the address before it depends on the stage.
  headers: { "cache-control": "public, max-age=300", link: '<api-catalog>; rel="api-catalog"' },
  errors: ["INVALID_ARGUMENT"],
});
