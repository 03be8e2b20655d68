import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type Code, errorRow, errors } from "../../shared/errors.ts";
import { correlatorHeader, requestIdHeader } from "../../shared/http/correlator.ts";
import { exposedHeaders } from "../../shared/http/cors.ts";

/**
 * Messages that say more than the catalogue's. The authorizer's context names the scope:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
const ownMessages: Readonly<Record<string, string>> = {
  ACCESS_DENIED: "The access token lacks the scope $context.authorizer.neededScope.",
  // An unknown path, with and without a bearer token (docs/decisions/0001).
  DEFAULT_4XX: "There is no operation with this path.",
  // For an unsupported Content-Encoding, and for an unsupported verb whose body has a rare type.
  UNSUPPORTED_MEDIA_TYPE:
    "The Content-Encoding must be gzip or deflate and match the body, or the method is not allowed.",
  REQUEST_TOO_LARGE: "The body is too large.",
};

/**
 * Renders API Gateway's own errors from the error catalogue, so that all errors have one form. The default of a class
 * of errors stands for every type of its row, with its status too:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 *
 * The correlator is echoed as it was sent, and omitted if there was none: a gateway response can substitute variables
 * but has no conditions (behaviour section 2).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-parameter-mapping-sources.html
 */
export function addGatewayResponses(api: RestApi, corsOrigins: readonly string[]): void {
  for (const code of Object.keys(errors) as Code[]) {
    const { status, message, retryAfterSeconds, gatewayResponses = [] } = errorRow(code);
    const byDefault = gatewayResponses.find((type) => type.startsWith("DEFAULT_"));
    for (const type of byDefault === undefined ? gatewayResponses : [byDefault]) {
      api.addGatewayResponse(type, {
        type: ResponseType.of(type),
        statusCode: String(status),
        templates: {
          "application/json": JSON.stringify({ status, code, message: ownMessages[type] ?? message }),
        },
        responseHeaders: {
          [correlatorHeader]: `method.request.header.${correlatorHeader}`,
          [requestIdHeader]: "context.requestId",
          "cache-control": "'no-store'",
          ...corsHeaders(corsOrigins),
          ...(status === 401 ? { "www-authenticate": "'Bearer'" } : {}),
          ...(type === "ACCESS_DENIED" ? { "www-authenticate": "context.authorizer.challenge" } : {}),
          ...(retryAfterSeconds === undefined ? {} : { "retry-after": `'${retryAfterSeconds}'` }),
        },
      });
    }
  }
}

/**
 * If more than one origin is allowed, any page may read API Gateway's own refusals: a gateway response cannot choose an
 * origin, and contains only what the OpenAPI document says and the request's ids (docs/decisions/0002).
 */
function corsHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  const [origin, ...others] = origins;
  if (origin === undefined) return {};
  const isOne = others.length === 0 && !origin.endsWith("*");
  return {
    "access-control-allow-origin": isOne ? `'${origin}'` : "'*'",
    "access-control-expose-headers": `'${exposedHeaders}'`,
  };
}
