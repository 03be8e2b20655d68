import { Validations } from "aws-cdk-lib";
import {
  AuthorizationType,
  ContentHandling,
  type IntegrationResponse,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
} from "aws-cdk-lib/aws-apigateway";
import { errors } from "../../shared/errors.ts";
import { correlatorHeader, requestIdHeader } from "../../shared/http/correlator.ts";
import { ignoredTypes, type OtherVerbs, pageHeadersOf, refusalOf, validCorrelator } from "../gateway.ts";
import { originsPattern } from "../origins.ts";

/**
 * Answers requests with a verb that the path does not have: 405 with the verbs that it has and, if origins are allowed,
 * preflights of browsers. API Gateway answers by a mock integration; no function runs (docs/decisions/0002).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-mock-integration.html
 */
export function addOtherVerbs(resource: IResource, others: OtherVerbs, origins: readonly string[]): void {
  const responses = [refusal(others, origins), ...(origins.length === 0 ? [] : [preflight(others, origins)])];
  const template =
    origins.length === 0
      ? '{"statusCode": 405}'
      : lines(
          '#if($context.httpMethod == "OPTIONS")',
          '{"statusCode": 204}',
          "#else",
          '{"statusCode": 405}',
          "#end",
        );
  const integration = new MockIntegration({
    // All media types are binary to this API; a template needs text.
    contentHandling: ContentHandling.CONVERT_TO_TEXT,
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(ignoredTypes.map((type) => [type, template])),
    integrationResponses: responses,
  });
  const method = resource.addMethod("ANY", integration, {
    authorizationType: AuthorizationType.NONE,
    methodResponses: responses.map(({ statusCode, responseParameters = {} }) => ({
      statusCode,
      responseParameters: Object.fromEntries(Object.keys(responseParameters).map((name) => [name, true])),
    })),
  });
  const reason =
    "It says which verbs the path has, as the public OpenAPI document does; no function runs. A " +
    "browser sends no token with a preflight.";
  Validations.of(method).acknowledge(
    ...["APIG4", "COG4"].map((rule) => ({ id: `AwsSolutions-${rule}`, reason })),
  );
}

function refusal(others: OtherVerbs, origins: readonly string[]): IntegrationResponse {
  return response(errors.METHOD_NOT_ALLOWED.status, others, origins, [
    `#set($correlator = $input.params().header.get("${correlatorHeader}"))`,
    `#if($correlator && $correlator.matches("${validCorrelator}"))`,
    `#set($context.responseOverride.header.${correlatorHeader} = $correlator)`,
    "#else",
    `#set($context.responseOverride.header.${correlatorHeader} = $context.requestId)`,
    "#end",
    ...whereAllowed(origins, pageHeadersOf(others, false)),
    refusalOf(others),
  ]);
}

function preflight(others: OtherVerbs, origins: readonly string[]): IntegrationResponse {
  return response(204, others, origins, whereAllowed(origins, pageHeadersOf(others, true)));
}

function response(
  status: number,
  { verbs }: OtherVerbs,
  origins: readonly string[],
  template: readonly string[],
): IntegrationResponse {
  return {
    statusCode: String(status),
    selectionPattern: String(status),
    contentHandling: ContentHandling.CONVERT_TO_TEXT,
    responseParameters: {
      "method.response.header.allow": `'${verbs.join(", ")}'`,
      "method.response.header.cache-control": "'no-store'",
      [`method.response.header.${requestIdHeader}`]: "context.requestId",
      ...(origins.length === 0 ? {} : { "method.response.header.vary": "'origin'" }),
    },
    responseTemplates: { "application/json": lines(...template) },
  };
}

/**
 * Sets the headers of a response to a page of an allowed origin. The `Origin` header is found under the name that was
 * sent, which is in lower case in HTTP/2. A header can be overridden only once.
 */
function whereAllowed(
  origins: readonly string[],
  headers: Readonly<Record<string, string>>,
): readonly string[] {
  if (origins.length === 0) return [];
  return [
    '#set($origin = $input.params().header.get("origin"))',
    '#if(!$origin || $origin == "")',
    '#set($origin = $input.params().header.get("Origin"))',
    "#end",
    `#if($origin && $origin.matches("${originsPattern(origins)}"))`,
    "#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)",
    ...Object.entries(headers).map(
      ([name, value]) => `#set($context.responseOverride.header.${name} = "${value}")`,
    ),
    "#end",
  ];
}

function lines(...texts: readonly string[]): string {
  return texts.join("\n");
}
