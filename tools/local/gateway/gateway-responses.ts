/**
 * Gateway responses: what API Gateway answers itself, without a function.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
import type { GatewayResponse } from "../../../infra/gateway.ts";
import { headerAsSent, type ReceivedRequest } from "./received-request.ts";

/** The types that the local gateway uses, with the exception's name in the header `x-amzn-errortype`. */
const exceptions = {
  ACCESS_DENIED: "AccessDeniedException",
  API_CONFIGURATION_ERROR: "InternalServerErrorException",
  AUTHORIZER_CONFIGURATION_ERROR: "AuthorizerConfigurationException",
  AUTHORIZER_FAILURE: "AuthorizerFailureException",
  BAD_REQUEST_PARAMETERS: "BadRequestException",
  INTEGRATION_FAILURE: "InternalServerErrorException",
  INTEGRATION_TIMEOUT: "GatewayTimeoutException",
  MISSING_AUTHENTICATION_TOKEN: "MissingAuthenticationTokenException",
  REQUEST_TOO_LARGE: "RequestTooLargeException",
  UNAUTHORIZED: "UnauthorizedException",
  UNSUPPORTED_MEDIA_TYPE: "UnsupportedMediaTypeException",
} as const;

/** The types of gateway response that the local gateway uses. */
export type GatewayErrorType = keyof typeof exceptions;

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

/** Renders an error by the response of its type, or else of its class: the catalogue has one for each. */
export function renderGatewayError(
  { type, context }: GatewayError,
  responses: readonly GatewayResponse[],
  request: ReceivedRequest,
): Reply {
  const isServers = serverErrors.has(type);
  const named = (wanted: string) => responses.find((one) => one.type === wanted);
  const chosen = named(type) ?? named(isServers ? "DEFAULT_5XX" : "DEFAULT_4XX");
  if (chosen === undefined) throw new Error(`no gateway response stands for ${type}`);
  const headers = Object.entries(chosen.headers).flatMap(([name, expression]) => {
    const value = headerValue(expression, request, context);
    return value === undefined ? [] : [[name.toLowerCase(), value] as const];
  });
  return {
    status: chosen.status,
    headers: [["content-type", "application/json"], ["x-amzn-errortype", exceptions[type]], ...headers],
    body: substituted(chosen.template, context),
  };
}

/** Those for which the default of the errors of a server stands. */
const serverErrors: ReadonlySet<GatewayErrorType> = new Set([
  "API_CONFIGURATION_ERROR",
  "AUTHORIZER_CONFIGURATION_ERROR",
  "AUTHORIZER_FAILURE",
  "INTEGRATION_FAILURE",
  "INTEGRATION_TIMEOUT",
] as const);

const contextVariable = /\$context\.authorizer\.(\w+)/g;

/** A variable without a value becomes an empty string, as in API Gateway. */
function substituted(template: string, context: ContextValues): string {
  return template.replaceAll(contextVariable, (_, name: string) => String(context[name] ?? ""));
}

/** The value of a header; undefined leaves it out. */
function headerValue(
  expression: string,
  request: ReceivedRequest,
  context: ContextValues,
): string | undefined {
  const fixed = /^'(.*)'$/s.exec(expression)?.[1];
  if (fixed !== undefined) return fixed;
  const header = /^method\.request\.header\.(.+)$/.exec(expression)?.[1];
  if (header !== undefined) return headerAsSent(request, header);
  if (expression === "context.requestId") return request.requestId;
  const property = /^context\.authorizer\.(\w+)$/.exec(expression)?.[1];
  if (property !== undefined) return context[property]?.toString();
  throw new Error(`The response parameter ${expression} is not supported locally`);
}
