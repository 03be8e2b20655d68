import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { type Code, errorRow, errors } from "../../shared/errors.ts";
import { correlatorHeader } from "../../shared/http/correlator.ts";

/**
 * Renders API Gateway's own refusals from the error catalogue, so that a caller sees one kind of error.
 *
 * The correlator is echoed as it was sent: a gateway response can substitute variables, not decide. A request
 * without one finds `x-amzn-requestid` in the response.
 */
export function addGatewayResponses(api: RestApi): void {
  for (const code of Object.keys(errors) as Code[]) {
    const { status, message, retryAfterSeconds, gatewayResponses = [] } = errorRow(code);
    for (const type of gatewayResponses) {
      api.addGatewayResponse(type, {
        type: ResponseType.of(type),
        statusCode: String(status),
        templates: { "application/json": JSON.stringify({ status, code, message }) },
        responseHeaders: {
          [correlatorHeader]: `method.request.header.${correlatorHeader}`,
          "cache-control": "'no-store'",
          ...(status === 401 ? { "www-authenticate": "'Bearer'" } : {}),
          ...(retryAfterSeconds === undefined ? {} : { "retry-after": `'${retryAfterSeconds}'` }),
        },
      });
    }
  }
}
