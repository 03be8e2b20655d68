/**
 * Gateway responses: what API Gateway answers itself, without a function.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
import type { DeclaredResponse } from "../template/rest-api.ts";
import { headerAsSent, type ReceivedRequest } from "./received-request.ts";

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
  API_CONFIGURATION_ERROR: {
    status: 500,
    message: "Internal server error",
    exception: "InternalServerErrorException",
  },
  AUTHORIZER_CONFIGURATION_ERROR: {
    status: 500,
    message: null,
    exception: "AuthorizerConfigurationException",
  },
  BAD_REQUEST_PARAMETERS: { status: 400, message: "Bad Request", exception: "BadRequestException" },
  AUTHORIZER_FAILURE: { status: 500, message: null, exception: "AuthorizerFailureException" },
  // Documented as 504; in practice, a failed or malformed response of a function is a 502.
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
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "Unsupported Media Type",
    exception: "UnsupportedMediaTypeException",
  },
  UNAUTHORIZED: { status: 401, message: "Unauthorized", exception: "UnauthorizedException" },
} as const satisfies Record<string, ResponseType>;

/** The types of gateway response that the local gateway uses. */
export type GatewayErrorType = keyof typeof responseTypes;

type ContextValues = Readonly<Record<string, string | number>>;

/** Ends a request with a gateway response. */
export class GatewayError extends Error {
  readonly type: GatewayErrorType;
  /** The context of the authorizer that denied access. */
  readonly context: ContextValues;

  /** @param reason is logged, never sent to the caller. */
  constructor(
    type: GatewayErrorType,
    reason: string = type,
    { context = {}, ...options }: ErrorOptions & { readonly context?: ContextValues } = {},
  ) {
    super(reason, options);
    this.type = type;
    this.context = context;
  }
}

/** An HTTP response. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Buffer;
}

/** Supplies the value of a header; undefined leaves the header out. */
type ValueSource = (request: ReceivedRequest, context: ContextValues) => string | undefined;

/** A gateway response of the template, ready to be rendered. */
export interface ConfiguredResponse {
  readonly responseType: string;
  readonly status: number | undefined;
  readonly headers: readonly (readonly [name: string, source: ValueSource])[];
  readonly body: string;
}

/** @throws {Error} naming a response parameter or a mapping template that is not supported locally. */
export function configuredResponse(declared: DeclaredResponse): ConfiguredResponse {
  const { responseType, status, parameters, template } = declared;
  if (template.replaceAll(contextVariable, "").includes("$"))
    throw new Error(`The mapping template ${template} is not supported locally`);
  const headers = Object.entries(parameters).map(([target, expression]) => {
    const name = /^gatewayresponse\.header\.(.+)$/.exec(target)?.[1];
    if (name === undefined) throw new Error(`${target} is not supported locally`);
    return [name, sourceOf(expression)] as const;
  });
  return { responseType, status, headers, body: template };
}

/** Renders an error by the response configured for its type, else for its class (4XX, 5XX), else as AWS does. */
export function renderGatewayError(
  error: GatewayError,
  configured: readonly ConfiguredResponse[],
  request: ReceivedRequest,
): Reply {
  const { status, message, exception } = responseTypes[error.type];
  const named = (type: string) => configured.find(({ responseType }) => responseType === type);
  const chosen = named(error.type) ?? named(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX");
  const headers = new Map([
    ["content-type", "application/json"],
    ["x-amzn-errortype", exception],
  ]);
  for (const [name, source] of chosen?.headers ?? []) {
    const value = source(request, error.context);
    if (value !== undefined) headers.set(name.toLowerCase(), value);
  }
  return {
    status: chosen?.status ?? status,
    headers: [...headers],
    body: substituted(chosen?.body, error.context) ?? JSON.stringify({ message }),
  };
}

const contextVariable = /\$context\.authorizer\.(\w+)/g;

/** A variable without a value becomes an empty string, as in API Gateway. */
function substituted(template: string | undefined, context: ContextValues): string | undefined {
  return template?.replaceAll(contextVariable, (_, name: string) => String(context[name] ?? ""));
}

function sourceOf(expression: string): ValueSource {
  const fixed = /^'(.*)'$/s.exec(expression)?.[1];
  if (fixed !== undefined) return () => fixed;
  const header = /^method\.request\.header\.(.+)$/.exec(expression)?.[1];
  if (header !== undefined) return (request) => headerAsSent(request, header);
  if (expression === "context.requestId") return ({ requestId }) => requestId;
  const property = /^context\.authorizer\.(\w+)$/.exec(expression)?.[1];
  if (property !== undefined) return (_, context) => context[property]?.toString();
  throw new Error(`The response parameter ${expression} is not supported locally`);
}
