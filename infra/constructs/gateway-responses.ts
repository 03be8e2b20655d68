import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { gatewayResponsesOf } from "../gateway.ts";

/** Renders API Gateway's own errors from the error catalogue. */
export function addGatewayResponses(api: RestApi, corsOrigins: readonly string[]): void {
  for (const { type, status, headers, template } of gatewayResponsesOf(corsOrigins)) {
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(status),
      templates: { "application/json": template },
      responseHeaders: { ...headers },
    });
  }
}
