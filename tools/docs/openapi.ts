import { STATUS_CODES } from "node:http";
import * as z from "zod";
import {
  createDocument,
  type oas31,
  type ZodOpenApiCallbacksObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import { issueToken } from "../../functions/oauth2/contract.ts";
import { clientScheme } from "../../functions/openapi/token-endpoint.ts";
import type { ServiceArea } from "../../shared/area.ts";
import { type Endpoint, endpointAt, pathsOf } from "../../shared/endpoint.ts";
import { correlatorHeader } from "../../shared/http/correlator.ts";
import { correlator, errorBody } from "../../shared/schemas.ts";
import { below, discoveryPath } from "../../shared/tokens/issuer.ts";
import { callbacksOf, sinkToken } from "./callbacks.ts";
import {
  codesOf,
  errorResponses,
  identifyingHeaders,
  rateLimitHeaders,
  responseHeaders,
  sharedErrorResponses,
} from "./error-responses.ts";
import {
  callbackExamples,
  errorExample,
  formatExamples,
  referencesTo,
  requestExamples,
  responseExamples,
} from "./examples.ts";
import { reference } from "./reference.ts";

/** The address of a local run. */
const localAddress = "http://127.0.0.1:3000";

/**
 * The OpenAPI 3.1 document of some areas, as a stage with a token endpoint has it. The same declarations give the same
 * document, member by member.
 * @throws {Error} when a body has no example.
 */
export function openApiDocument(
  areas: readonly ServiceArea[],
  version: string,
  { hasAliases = true } = {},
): oas31.OpenAPIObject {
  const endpoints = areas.flatMap((area) => area.endpoints);
  const document = createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "Network Capabilities Service",
        version,
        description:
          "What a mobile operator's network knows, for your programs: how many people are in an area, " +
          "hour by hour; which network quality a device can be given; whether a phone number has changed " +
          "hands; and which device a subscriber uses. Log in for an access token, and send it with each " +
          "request.",
        contact: { name: "The operator of the stage" },
        license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
      },
      servers: [
        {
          url: localAddress,
          description: "A local run. A deployed stage has an address of its own.",
        },
      ],
      // Titles have a member of their own: generators of clients name classes after tags.
      tags: areas.map(({ name, title, about }) => ({ name, description: about, "x-displayName": title })),
      paths: pathItems(areas, hasAliases),
      components: {
        schemas: { ErrorInfo: errorBody, XCorrelator: correlator },
        parameters: {
          [correlatorHeader]: {
            name: correlatorHeader,
            in: "header",
            description:
              "Echoed in the response; without it the function that answers chooses one. Send the name " +
              "in lower case: before a function runs, another case may not be recognised.",
            schema: reference("schemas", "XCorrelator"),
          },
          AcceptEncoding: {
            name: "accept-encoding",
            in: "header",
            description:
              "How the response may be compressed. Browsers and most clients send it by themselves.",
            schema: { type: "string" },
            example: "gzip",
          },
        },
        headers: { ...responseHeaders },
        responses: sharedErrorResponses(endpoints),
        securitySchemes: {
          bearer: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: tokenDescription(areas),
          },
          [clientScheme]: {
            type: "openIdConnect",
            openIdConnectUrl: below(localAddress, discoveryPath),
            description:
              `A client that has a key gets a \`bearer\` token at \`${issueToken.path}\` by a JWT that it signs: with ` +
              "`client_credentials` a 2-legged token of its own, and with JWT bearer, `tel:` and a phone number as the " +
              "subject, a 3-legged one of that number's subscription. Algorithms and scopes are in the issuer's metadata, " +
              `\`${discoveryPath}\`.`,
          },
          ...sinkToken(endpoints),
        },
        examples: exampleComponents(areas),
      },
    },
    { override: openObject },
  );
  exemplifyParameters(document);
  return document;
}

/** Gives parameters the example of their schema, where programs that fill in forms look for one. */
function exemplifyParameters({ paths = {}, components }: oas31.OpenAPIObject): void {
  const operations = Object.values(paths).flatMap(({ get, post, delete: remove }) => [get, post, remove]);
  for (const parameter of operations.flatMap((one) => one?.parameters ?? [])) {
    if ("$ref" in parameter || parameter.schema === undefined) continue;
    const { schema } = parameter;
    const name = "$ref" in schema ? schema.$ref?.split("/").at(-1) : undefined;
    const described = name === undefined ? schema : components?.schemas?.[name];
    const [example] = (described as oas31.SchemaObject | undefined)?.examples ?? [];
    if (example !== undefined) parameter.example = example;
  }
}

/** The document of some areas with the specification's paths alone. */
export function canonicalDocument(areas: readonly ServiceArea[], version: string): oas31.OpenAPIObject {
  return openApiDocument(areas, version, { hasAliases: false });
}

/** The operationId of an endpoint's path: the declared one, and for aliases one derived from it. */
function operationIdOf({ operationId }: Endpoint, pathIndex: number): string {
  if (pathIndex === 0) return operationId;
  return `${operationId}Alias${pathIndex === 1 ? "" : pathIndex}`;
}

/** Unknown members of a request are ignored, and a response may gain members: only strict objects are closed. */
const openObject: ZodOpenApiOverride = ({ jsonSchema, zodSchema }) => {
  const { def } = zodSchema._zod;
  const strict = def.type === "object" && def.catchall !== undefined;
  if (jsonSchema.additionalProperties === false && !strict) delete jsonSchema.additionalProperties;
};

function tokenDescription(areas: readonly ServiceArea[]): string {
  const scopes = areas.flatMap((area) => Object.entries(area.scopes));
  const permissions = scopes.map(([scope, permits]) => `- \`${scope}\`: ${permits}`);
  const kinds =
    "An access token, of one of two kinds. A 2-legged token is an application's own: its requests name the device or " +
    "the number that they are about. A 3-legged token is tied to one subscription: its requests name none, and one that " +
    "does is refused with 422 `UNNECESSARY_IDENTIFIER`. A login gives a 3-legged token where its profile is linked to a " +
    "subscription, and otherwise a 2-legged one.";
  const needed =
    "Each operation names the scope it needs. Proof of possession is not supported: a token that is bound to a key " +
    "(`cnf`: DPoP, mutual TLS) is refused.";
  return [kinds, "", needed, "", ...permissions].join("\n");
}

function pathItems(areas: readonly ServiceArea[], hasAliases: boolean): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  const callbacksAt = callbacksOf(areas.flatMap((area) => area.endpoints));
  for (const area of areas) {
    for (const endpoint of area.endpoints) {
      const callbacks = callbacksAt(endpoint);
      for (const [index, path] of (hasAliases ? pathsOf(endpoint) : [endpoint.path]).entries()) {
        const described = operation(area, endpointAt(endpoint, path), index, callbacks);
        paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: described };
      }
    }
  }
  return paths;
}

function operation(
  area: ServiceArea,
  endpoint: Endpoint,
  pathIndex: number,
  callbacks: ZodOpenApiCallbacksObject | undefined,
): ZodOpenApiOperationObject {
  const { summary, scope, parameters, query, requestHeaders, body, release, oauth2 } = endpoint;
  return {
    operationId: operationIdOf(endpoint, pathIndex),
    tags: [area.name],
    summary,
    description: operationDescription(endpoint, pathIndex),
    // A linter accepts no scopes in the requirement of `bearer`.
    security: scope === null ? [] : [{ bearer: [] }, { [clientScheme]: [scope] }],
    ...(scope === null ? {} : { "x-required-scopes": [scope] }),
    ...(pathIndex === 0 ? aliasesOf(endpoint) : { "x-alias-of": endpoint.operationId }),
    ...(pathIndex === 0 || release === undefined ? {} : { "x-camara-release": release.name }),
    requestParams: {
      ...(parameters === undefined ? {} : { path: z.object(parameters) }),
      ...(query === undefined ? {} : { query: z.object(query) }),
      ...(requestHeaders === undefined ? {} : { header: z.object(requestHeaders) }),
    },
    parameters: [
      reference("parameters", correlatorHeader),
      ...(isCompressed(endpoint) ? [reference("parameters", "AcceptEncoding")] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              [oauth2 ? "application/x-www-form-urlencoded" : "application/json"]: {
                schema: body,
                examples: referencesTo(requestExamples(endpoint)),
              },
            },
          },
        }),
    responses: { ...successResponses(area, endpoint), ...errorResponses(endpoint) },
    ...(callbacks === undefined ? {} : { callbacks }),
  };
}

function operationDescription(endpoint: Endpoint, pathIndex: number): string {
  const { description, scope, method, path } = endpoint;
  const same = `The same operation as \`${method} ${path}\`, under another address.`;
  return [
    description,
    ...(scope === null ? [] : [`Needs the scope \`${scope}\`.`]),
    ...(pathIndex === 0 ? [] : [`${same} ${answersOfAlias(endpoint)}`]),
  ].join("\n\n");
}

/** What an operation answers at each of its further paths, for readers of a document that leaves these out. */
function aliasesOf(endpoint: Endpoint) {
  const { aliases } = endpoint;
  if (aliases.length === 0) return {};
  return { "x-aliases": Object.fromEntries(aliases.map((path) => [path, answersOfAlias(endpoint)])) };
}

function answersOfAlias({ release }: Endpoint): string {
  if (release === undefined) return "The answers are the same.";
  const { name, differences = "Both paths answer the same." } = release;
  return `The answers are those of CAMARA's ${name}. ${differences}`;
}

function successResponses(area: ServiceArea, endpoint: Endpoint): ZodOpenApiResponsesObject {
  const declared = Object.entries(endpoint.headers ?? {}).map(([name, value]) => [
    name,
    name === "vary"
      ? reference("headers", "Vary")
      : { schema: { type: "string", const: value }, required: true },
  ]);
  const replied = (status: string) =>
    Object.entries(endpoint.replyHeaders?.[Number(status)] ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: "string" }, required: true },
    ]);
  return Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, schema]) => [
      status,
      {
        description: z.globalRegistry.get(schema)?.description ?? `${STATUS_CODES[status]}.`,
        headers: {
          ...identifyingHeaders,
          ...(endpoint.scope === null ? {} : rateLimitHeaders),
          ...(endpoint.headers?.["cache-control"] === undefined
            ? { "cache-control": reference("headers", "NoStore") }
            : {}),
          ...encodingHeaders(endpoint, status),
          ...Object.fromEntries([...declared, ...replied(status)]),
        },
        ...(endpoint.links?.[Number(status)] === undefined
          ? {}
          : { links: { ...endpoint.links[Number(status)] } }),
        content: {
          [mediaTypeOf(endpoint)]: {
            schema,
            examples: referencesTo(responseExamples(endpoint, status, schema)),
          },
          ...Object.fromEntries(
            formatsOf(area, endpoint, status).map(({ mediaType, schema: ofFormat, examples }) => [
              mediaType,
              { schema: ofFormat, examples: referencesTo(examples) },
            ]),
          ),
        },
      },
    ]),
  );
}

/** Whether an answer is so large that callers should accept it compressed. */
function isCompressed({ streamed, headers }: Endpoint): boolean {
  return streamed !== undefined || headers?.vary !== undefined;
}

/** The headers of successes that are large enough to be compressed: with a body that comes later, 202 is not. */
function encodingHeaders(endpoint: Endpoint, status: string): Record<string, { readonly $ref: string }> {
  if (!isCompressed(endpoint) || status === "202") return {};
  return { vary: reference("headers", "Vary"), "content-encoding": reference("headers", "ContentEncoding") };
}

/**
 * The further formats of a success.
 * @throws {Error} for one of which the area has no schema, or the schema no example.
 */
function formatsOf({ formats = {} }: ServiceArea, endpoint: Endpoint, status: string) {
  return (endpoint.formats?.[Number(status)] ?? []).map((mediaType) => {
    const schema = formats[endpoint.operationId]?.[mediaType];
    if (schema === undefined) throw new Error(`the area of ${endpoint.id} has no format ${mediaType}`);
    return { mediaType, schema, examples: formatExamples(endpoint, status, mediaType, schema) };
  });
}

/** The media type of an endpoint's successful responses, without parameters. */
function mediaTypeOf({ mediaType = "application/json" }: Endpoint): string {
  return mediaType.split(";", 1).join();
}

function exampleComponents(areas: readonly ServiceArea[]): Record<string, oas31.ExampleObject> {
  const endpoints = areas.flatMap((area) => area.endpoints);
  const bodies = areas.flatMap((area) =>
    area.endpoints.flatMap((endpoint) => [
      ...requestExamples(endpoint),
      ...callbackExamples(endpoint),
      ...Object.entries(endpoint.responses).flatMap(([status, schema]) => [
        ...responseExamples(endpoint, status, schema),
        ...formatsOf(area, endpoint, status).flatMap(({ examples }) => examples),
      ]),
    ]),
  );
  const errors = [...new Set(endpoints.flatMap(codesOf))].map(errorExample);
  return Object.fromEntries([...bodies, ...errors].map(({ name, value }) => [name, { value }]));
}
