/**
 * What API Gateway answers in place of a function.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
import type { RequestContext } from "./event.ts";
import { headerOf, type ReceivedRequest } from "./received-request.ts";

interface ResponseType {
  readonly status: number;
  readonly message: string | null;
  /** The exception's name in the header `x-amzn-errortype`. */
  readonly exception: string;
}

const responseTypes = {
  ACCESS_DENIED: {
    status: 403,
    message: "User is not authorized to access this resource",
    exception: "AccessDeniedException",
  },
  AUTHORIZER_CONFIGURATION_ERROR: {
    status: 500,
    message: null,
    exception: "AuthorizerConfigurationException",
  },
  BAD_REQUEST_PARAMETERS: { status: 400, message: "Bad Request", exception: "BadRequestException" },
  AUTHORIZER_FAILURE: { status: 500, message: null, exception: "AuthorizerFailureException" },
  // The documentation says 504; a failed or malformed answer of a function is 502 in practice.
  INTEGRATION_FAILURE: {
    status: 502,
    message: "Internal server error",
    exception: "InternalServerErrorException",
  },
  INTEGRATION_TIMEOUT: {
    status: 504,
    message: "Endpoint request timed out",
    exception: "GatewayTimeoutException",
  },
  MISSING_AUTHENTICATION_TOKEN: {
    status: 403,
    message: "Missing Authentication Token",
    exception: "MissingAuthenticationTokenException",
  },
  REQUEST_TOO_LARGE: { status: 413, message: "Request Too Long", exception: "RequestTooLargeException" },
  UNAUTHORIZED: { status: 401, message: "Unauthorized", exception: "UnauthorizedException" },
} as const satisfies Record<string, ResponseType>;

/** The kinds of refusal that the local gateway can come to. */
export type RefusalType = keyof typeof responseTypes;

/** Ends a request with a gateway response. */
export class GatewayRefusal extends Error {
  readonly type: RefusalType;

  /** @param reason is for the log, never for the caller. */
  constructor(type: RefusalType, reason: string = type, options?: ErrorOptions) {
    super(reason, options);
    this.type = type;
  }
}

/** An answer on its way to the client. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Buffer;
}

/** Where a header of a gateway response takes its value from; undefined leaves the header out. */
type ValueSource = (request: ReceivedRequest, context: RequestContext) => string | undefined;

/** A gateway response that the template declares. */
export interface ConfiguredResponse {
  readonly responseType: string;
  readonly status: number | undefined;
  readonly headers: readonly (readonly [name: string, source: ValueSource])[];
  /** A mapping template in which variables are replaced and nothing is computed. */
  readonly template: string | undefined;
}

/** @throws {Error} naming a response parameter whose form is not supported locally. */
export function parseConfiguredResponse(declared: {
  readonly responseType: string;
  readonly status: number | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly template: string | undefined;
}): ConfiguredResponse {
  const headers = Object.entries(declared.parameters).map(([target, expression]) => {
    const name = /^gatewayresponse\.header\.(.+)$/.exec(target)?.[1];
    if (name === undefined) throw new Error(`${target} is not supported locally`);
    return [name, parseSource(expression)] as const;
  });
  const { responseType, status, template } = declared;
  return { responseType, status, headers, template };
}

/** Renders a refusal by its own type, else by the default of its class, else as AWS does. */
export function renderRefusal(
  refusal: GatewayRefusal,
  configured: readonly ConfiguredResponse[],
  request: ReceivedRequest,
  context: RequestContext,
): Reply {
  const { status, message, exception } = responseTypes[refusal.type];
  const named = (type: string) => configured.find(({ responseType }) => responseType === type);
  const chosen = named(refusal.type) ?? named(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX");
  const error = { message, messageString: JSON.stringify(message), responseType: refusal.type };

  const headers = new Map([
    ["content-type", "application/json"],
    ["x-amzn-errortype", exception],
  ]);
  for (const [name, source] of chosen?.headers ?? []) {
    const value = source(request, context);
    if (value !== undefined) headers.set(name.toLowerCase(), value);
  }
  return {
    status: chosen?.status ?? status,
    headers: [...headers],
    body: substitute(chosen?.template ?? '{"message":$context.error.messageString}', { ...context, error }),
  };
}

function substitute(template: string, context: unknown): string {
  return template.replace(/\$context\.(\w+(?:\.\w+)*)/g, (_, path: string) => lookUp(context, path) ?? "");
}

function parseSource(expression: string): ValueSource {
  const fixed = /^'(.*)'$/s.exec(expression)?.[1];
  if (fixed !== undefined) return () => fixed;
  const header = /^method\.request\.header\.(.+)$/.exec(expression)?.[1];
  if (header !== undefined) return (request) => headerOf(request, header);
  const query = /^method\.request\.querystring\.(.+)$/.exec(expression)?.[1];
  if (query !== undefined)
    return (request) => new URLSearchParams(request.queryString).get(query) ?? undefined;
  const path = /^context\.(.+)$/.exec(expression)?.[1];
  if (path !== undefined) return (_, context) => lookUp(context, path);
  throw new Error(`The response parameter ${expression} is not supported locally`);
}

/** A member of a member, as text. */
function lookUp(value: unknown, path: string): string | undefined {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Object.entries(found).find(([key]) => key === name)?.[1];
  }
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}
