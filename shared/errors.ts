/** One row of the error catalogue. */
interface ErrorRow {
  /** HTTP status, also the `status` member of the body (specification 2.14). */
  readonly status: number;
  /** The default of the `message` member; `ErrorDetails` may replace it. */
  readonly message: string;
  /** Seconds after which a caller may retry; sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** API Gateway's gateway responses that mean the same and are rendered from this row. */
  readonly gatewayResponses?: readonly string[];
  /** The `error` of OAuth 2 that means the same (RFC 6749), where an endpoint is one of OAuth 2. */
  readonly oauthError?: string;
}

/**
 * Every error of the service: those of specification 7.1, and our own for verbs, formats, operations and failures of
 * the service. The errors of functions, gateway responses and the OpenAPI document are rendered from these rows.
 *
 * API Gateway takes a request for an unknown route for one signed by an AWS identity, and refuses it for a missing or
 * malformed signature. Those responses are `NOT_FOUND` here, because no route uses signatures.
 *
 * A function that is throttled or crashes is an `INTEGRATION_FAILURE`, an authorizer that cannot be invoked an
 * `AUTHORIZER_…` failure. The same request may succeed a moment later, so these are `UNAVAILABLE`.
 */
export const errors = {
  INVALID_ARGUMENT: {
    status: 400,
    message: "The request has an invalid argument.",
    oauthError: "invalid_request",
    gatewayResponses: [
      "BAD_REQUEST_BODY",
      "BAD_REQUEST_PARAMETERS",
      "REQUEST_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
    ],
  },
  OUT_OF_RANGE: { status: 400, message: "A value of the request is outside its range." },
  INVALID_CREDENTIAL: { status: 400, message: "Only credentials of type ACCESSTOKEN are supported." },
  INVALID_TOKEN: { status: 400, message: "Only bearer tokens are supported." },
  INVALID_SINK: {
    status: 400,
    message:
      "The sink must be an https URL with a public host name, not an address, without user information and fragment.",
  },
  "POPULATION_DENSITY_DATA.INVALID_AREA": {
    status: 400,
    message: "The area must be a POLYGON of 3 to 15 points whose edges enclose an area and do not meet.",
  },
  "POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED": {
    status: 400,
    message: "The startTime is more than 3 months ago.",
  },
  "POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED": {
    status: 400,
    message: "The startTime is more than 3 months ahead.",
  },
  "POPULATION_DENSITY_DATA.INVALID_END_TIME": { status: 400, message: "The endTime is before startTime." },
  "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD": {
    status: 400,
    message: "The period is partly in the past and partly in the future.",
  },
  "POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED": {
    status: 400,
    message: "The period is longer than 7 days.",
  },
  INVALID_GRANT: {
    status: 400,
    message: "The assertion is invalid, expired or used before, or its subject is unknown.",
    oauthError: "invalid_grant",
  },
  INVALID_SCOPE: {
    status: 400,
    message: "The scope is missing or malformed, or the client may not have it.",
    oauthError: "invalid_scope",
  },
  UNAUTHORIZED_CLIENT: {
    status: 400,
    message: "The client may not use this grant.",
    oauthError: "unauthorized_client",
  },
  UNSUPPORTED_GRANT_TYPE: {
    status: 400,
    message: "Unsupported grant type.",
    oauthError: "unsupported_grant_type",
  },
  INVALID_CLIENT: {
    status: 401,
    message: "The client is not authenticated.",
    oauthError: "invalid_client",
  },
  UNAUTHENTICATED: {
    status: 401,
    message: "Credentials are missing, invalid or expired.",
    gatewayResponses: ["UNAUTHORIZED"],
  },
  PERMISSION_DENIED: {
    status: 403,
    message: "The credentials do not permit this operation.",
    // RFC 8628, section 3.5, and CIBA have it at the token endpoint.
    oauthError: "access_denied",
    gatewayResponses: ["ACCESS_DENIED", "WAF_FILTERED", "INVALID_API_KEY"],
  },
  NOT_FOUND: {
    status: 404,
    message: "There is no such resource.",
    gatewayResponses: [
      "MISSING_AUTHENTICATION_TOKEN",
      "RESOURCE_NOT_FOUND",
      "INVALID_SIGNATURE",
      "EXPIRED_TOKEN",
      "DEFAULT_4XX",
    ],
  },
  METHOD_NOT_ALLOWED: { status: 405, message: "Method not allowed; see Allow." },
  IDENTIFIER_NOT_FOUND: {
    status: 404,
    message: "The identifier does not belong to a known device or number.",
  },
  NOT_ACCEPTABLE: { status: 406, message: "Accept excludes every media type of the response." },
  "POPULATION_DENSITY_DATA.OPERATION_PENDING": {
    status: 409,
    message: "The operation is still pending: wait for its outcome, or cancel it.",
  },
  "POPULATION_DENSITY_DATA.OPERATION_ENDED": {
    status: 409,
    message: "The operation has already ended and cannot be cancelled.",
  },
  SERVICE_NOT_APPLICABLE: { status: 422, message: "The service does not apply to this device or number." },
  UNSUPPORTED_IDENTIFIER: { status: 422, message: "None of the identifiers sent is supported." },
  UNNECESSARY_IDENTIFIER: {
    status: 422,
    message: "The access token already identifies the device: send no identifier.",
  },
  MISSING_IDENTIFIER: {
    status: 422,
    message: "The access token identifies no device: send an identifier.",
  },
  "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION": {
    status: 422,
    message: "The precision is not supported.",
  },
  "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST": {
    status: 422,
    message: "Area, period and precision together exceed the size limit.",
  },
  "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE": {
    status: 422,
    message: "Area, period and precision together exceed the size limit of an answer without a sink.",
  },
  QUOTA_EXCEEDED: {
    status: 429,
    message: "The quota of requests is used up.",
    retryAfterSeconds: 3_600,
    oauthError: "temporarily_unavailable",
    gatewayResponses: ["QUOTA_EXCEEDED"],
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    message: "Too many requests in a short time.",
    retryAfterSeconds: 1,
    oauthError: "temporarily_unavailable",
    gatewayResponses: ["THROTTLED"],
  },
  INTERNAL: {
    status: 500,
    message: "The service failed to answer.",
    oauthError: "server_error",
    gatewayResponses: ["API_CONFIGURATION_ERROR", "DEFAULT_5XX"],
  },
  UNAVAILABLE: {
    status: 503,
    message: "The service is temporarily unavailable.",
    retryAfterSeconds: 5,
    // RFC 6749 has it for redirects (section 4.1.2.1), which have no status; with a 503 or 429 it says no more than that.
    oauthError: "temporarily_unavailable",
    gatewayResponses: ["AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "INTEGRATION_FAILURE"],
  },
  TIMEOUT: {
    status: 504,
    message: "The service did not answer in time.",
    oauthError: "temporarily_unavailable",
    gatewayResponses: ["INTEGRATION_TIMEOUT"],
  },
} as const satisfies Record<string, ErrorRow>;

/** A code of the catalogue; the `code` member of an error body. */
export type Code = keyof typeof errors;

/** What every endpoint answers with that needs a token. */
export const callerErrors = [
  "INVALID_ARGUMENT",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "QUOTA_EXCEEDED",
  "TOO_MANY_REQUESTS",
] as const satisfies readonly Code[];

/** A row of the catalogue, with its optional members visible to the type checker. */
export function errorRow(code: Code): ErrorRow {
  return errors[code];
}

/** The remaining allowance of a limit in the current window; sent as `X-RateLimit-*` (behaviour section 9). */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends. */
  readonly resetSeconds: number;
}

/** Overrides of the catalogue's row for one response. */
export interface ErrorDetails {
  /** Replaces the catalogue's message. Never contains a value of the request. */
  readonly message?: string;
  /** Replaces the catalogue's waiting time. */
  readonly retryAfterSeconds?: number;
  /** The allowance of the exceeded limit, if it has a window. */
  readonly allowance?: Allowance;
  /** The challenge in `WWW-Authenticate`; without it, that of a resource for bearer tokens. */
  readonly challenge?: string;
}

/** An error of the catalogue. `serve` turns it into a response. */
export class ApiError extends Error {
  readonly code: Code;
  readonly details: ErrorDetails;

  constructor(code: Code, details: ErrorDetails = {}) {
    super(code);
    this.name = "ApiError";
    this.code = code;
    this.details = details;
  }
}

/** A dependency did not answer, throttled, or sent an unreadable response: 503 for the caller. */
export class Unavailable extends Error {
  /** @param cause for the log: the class of the failure, never data. */
  constructor(dependency: string, cause: string) {
    super(`${dependency}: ${cause}`);
    this.name = "Unavailable";
  }
}

/**
 * An environment variable is missing or malformed. The message may be logged: it names the variable, never its value.
 */
export class Misconfigured extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Misconfigured";
  }
}
