import type * as z from "zod/mini";
import type { DurationMetric } from "./aws/metrics.ts";
import type { Code } from "./errors.ts";

/** The names of a path's `{parameters}`. */
type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** A media type, optionally with parameters. */
export type MediaType = `${"application" | "text"}/${string}`;

/** An operation that a response links to, with runtime expressions for its parameters. */
interface Link {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, `$response.${string}`>>;
}

/** A later request of the service to an address that the operation's request names. */
interface Callback {
  /** The operation's name in the OpenAPI document, and among the document's components. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The address, a runtime expression (OpenAPI Specification 3.1, section 4.8.20.3). */
  readonly url: `{$request.${string}}`;
  readonly headers: Readonly<Record<string, z.ZodMiniType>>;
  /** The bearer token that is sent, if the request has one. */
  readonly token: string;
  readonly body: z.ZodMiniType;
  /** How the service treats the receiver's response, by its status. */
  readonly answers: Readonly<Record<string, string>>;
}

/** A release of CAMARA as which the aliases of an operation answer, where it differs from the specification. */
interface Release {
  /** Its API and version, such as `qos-profiles 1.1.0`. */
  readonly name: string;
  /** What differs from the specification, in sentences for the documents; nothing if absent. */
  readonly differences?: string;
  /** Replaces the operation's own schema; parses to the same. Its `x-camara-release` is the name. */
  readonly body?: z.ZodMiniType;
  /** Replace the operation's own schemas; they take the same. */
  readonly responses?: Readonly<Record<number, z.ZodMiniType>>;
}

interface Operation {
  /** `<area>/<operation>`: the handler's file below `functions/`, and the folder and name of its events. */
  readonly id: `${string}/${string}`;
  /** The operation's name in the OpenAPI document. */
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly method: "DELETE" | "GET" | "POST";
  /** A GET whose function also answers HEAD, with the same headers and no body (RFC 9110, 9.3.2). */
  readonly answersHead?: true;
  /** The specification's path. */
  readonly path: `/${string}`;
  /** Further paths that run the same function, with the same parameters. */
  readonly aliases: readonly `/${string}`[];
  /** How the aliases differ, if they do. */
  readonly release?: Release;
  /** One schema for each `{parameter}` of the path. */
  readonly parameters?: Readonly<Record<string, z.ZodMiniType>>;
  /** One schema for each query parameter; values are text. Undeclared parameters are ignored. */
  readonly query?: Readonly<Record<string, z.ZodMiniType>>;
  /** One schema for each header that the handler reads, by its name as documented. */
  readonly requestHeaders?: Readonly<Record<string, z.ZodMiniType>>;
  readonly body?: z.ZodMiniType;
  readonly callback?: Callback;
  /** The `operationId` of the operation that declares the callback, if this one makes the same. */
  readonly sameCallbackAs?: string;
  /** Schema of the body by success status. */
  readonly responses: Readonly<Record<number, z.ZodMiniType>>;
  /** Further media types by success status, which `Accept` may select; their schemas are in the area's `formats`. */
  readonly formats?: Readonly<Record<number, readonly MediaType[]>>;
  /** The operations that a response links to, by success status and name. */
  readonly links?: Readonly<Record<number, Readonly<Record<string, Link>>>>;
  /** The media type of successful responses, with parameters; `application/json` by default. */
  readonly mediaType?: MediaType;
  /** Headers of every successful response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that the handler sets, by success status: a description by lower-case name. */
  readonly replyHeaders?: Readonly<Record<number, Readonly<Record<string, string>>>>;
  /** The metric of response times, if the operation has an objective of its own. */
  readonly durationMetric?: DurationMetric;
  /**
   * Whether it is one of OAuth 2: the body is form-encoded (RFC 6749, appendix B), and errors also have the members
   * that its clients read (section 5.2).
   */
  readonly oauth2?: true;
  /** Whether the response is streamed: of any size, and sent from the first chunk on. */
  readonly streamed?: true;
  /** The codes that the specification lists for the operation; the handler can refuse with no others. */
  readonly errors: readonly Code[];
}

/** An operation that needs a token. */
interface ProtectedOperation extends Operation {
  /** The scope that the token must have; the area describes it. */
  readonly scope: `${string}:${string}`;
  readonly publicBecause?: never;
}

/** An operation that needs no token. */
interface PublicOperation extends Operation {
  readonly scope: null;
  /** Why it needs no token. */
  readonly publicBecause: string;
}

/** An operation of the API, declared once. Routes, functions, documents and tests are derived from it. */
export type Endpoint = ProtectedOperation | PublicOperation;

/** An operation whose response is streamed. */
export type StreamedEndpoint = Endpoint & { readonly streamed: true };

/** The paths, among some, that have exactly these `{parameters}`. */
type WithParameters<Path extends string, Names extends string> = Path extends string
  ? [ParameterOf<Path>, Names] extends [Names, ParameterOf<Path>]
    ? Path
    : never
  : never;

/** Rejects a path parameter without a schema, a schema without a path parameter, and an alias with other parameters. */
type Checked<D extends Endpoint> = ([ParameterOf<D["path"]>] extends [never]
  ? { readonly parameters?: never }
  : {
      readonly parameters: { readonly [Name in ParameterOf<D["path"]>]: z.ZodMiniType } & {
        readonly [Name in Exclude<keyof D["parameters"], ParameterOf<D["path"]>>]: never;
      };
    }) & {
  readonly aliases: readonly WithParameters<D["aliases"][number], ParameterOf<D["path"]>>[];
};

/**
 * Codes that every function may answer with, although no endpoint declares them: faults of the service.
 */
export const failures = ["INTERNAL", "UNAVAILABLE", "TIMEOUT"] as const satisfies readonly Code[];

/** Declares an endpoint. Its type rejects an unknown code and a path parameter without a schema. */
export function endpoint<const D extends Endpoint>(declaration: D & Checked<D>): D {
  return declaration;
}

/** Every path of an endpoint: the specification's, then the aliases. */
export function pathsOf({ path, aliases }: Pick<Endpoint, "path" | "aliases">): readonly string[] {
  return [path, ...aliases];
}

/** An endpoint as it is at one of its paths: at an alias, with the schemas of its release. */
export function endpointAt<E extends Endpoint>(endpoint: E, path: string): E {
  const { release } = endpoint;
  if (release === undefined || !isAlias(endpoint, path)) return endpoint;
  const { body = endpoint.body, responses } = release;
  return {
    ...endpoint,
    ...(body === undefined ? {} : { body }),
    responses: { ...endpoint.responses, ...responses },
  };
}

/** Whether a path is one of an endpoint's aliases. */
export function isAlias({ aliases }: Pick<Endpoint, "aliases">, path: string): boolean {
  return (aliases as readonly string[]).includes(path);
}

/** The verbs that an endpoint's function answers. */
export function verbsOf({
  method,
  answersHead,
}: Pick<Endpoint, "method" | "answersHead">): readonly string[] {
  return answersHead === undefined ? [method] : [method, "HEAD"];
}

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : undefined;

type ParsedValues<Schemas> =
  Schemas extends Readonly<Record<string, z.ZodMiniType>>
    ? { readonly [Name in keyof Schemas]: z.output<Schemas[Name]> }
    : undefined;

/** The path parameters of an endpoint, parsed. */
export type ParametersOf<E extends Endpoint> = ParsedValues<E["parameters"]>;

/** The query parameters of an endpoint, parsed. */
export type QueryOf<E extends Endpoint> = ParsedValues<E["query"]>;

/** The last argument of a reply: the headers that the endpoint declares for its status; none if it declares none. */
export type ReplyHeadersOf<E extends Endpoint, Status extends number> =
  E["replyHeaders"] extends Readonly<Record<Status, infer Headers>>
    ? [headers: { readonly [Name in keyof Headers]: string }]
    : [];

/**
 * The headers of a streamed reply: those that the endpoint declares for its status, and optionally those of its
 * content.
 */
export type StreamHeadersOf<E extends Endpoint, Status extends number> =
  ReplyHeadersOf<E, Status> extends [headers: infer Headers]
    ? [headers: Headers & ContentHeaders]
    : [headers?: ContentHeaders];

/** The media type of a body, and the request headers on which it depends. */
interface ContentHeaders {
  readonly "content-type"?: string;
  readonly vary?: string;
}

/** The body of an endpoint, parsed. */
export type BodyOf<E extends Endpoint> = Parsed<E["body"]>;

/** The success statuses of an endpoint. */
export type StatusOf<E extends Endpoint> = keyof E["responses"] & number;

/** The body that an endpoint may return with a status, before it is encoded by its schema. */
export type ResponseOf<
  E extends Endpoint,
  Status extends StatusOf<E>,
> = E["responses"][Status] extends z.ZodMiniType ? z.input<E["responses"][Status]> : never;
