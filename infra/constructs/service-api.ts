import { Size, Stack, Validations } from "aws-cdk-lib";
import {
  AccessLogFormat,
  type CfnRestApi,
  type CfnStage,
  EndpointType,
  LogGroupLogDestination,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { FilterPattern } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { apiStage, compressedKibibytes } from "../gateway.ts";
import { gatewayThrottled, metricNamespaceOf } from "../metrics.ts";
import type { StageTraits, Throttling } from "../stage.ts";
import type { StageThrottling } from "../throttling.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { ServiceLog } from "./service-log.ts";

interface ServiceApiProps {
  readonly traits: StageTraits;
  readonly throttling: StageThrottling;
  /** Whether requests are sampled into X-Ray, here and in the functions. */
  readonly traced: boolean;
  /** Whether callers reach it under the host name that AWS gives it. */
  readonly awsHostIsOpen: boolean;
  /** The origins whose pages may use it. */
  readonly corsOrigins: readonly string[];
  /** Whether the account's API Gateway may write logs already. */
  readonly gatewayMayLog: boolean;
}

/**
 * The fields of the access log, none of which holds the caller or what was sent. The path is the route's, with `{name}`
 * for a name. The message of a gateway error is omitted because it may repeat the `Authorization` header.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const accessLogLine = {
  requestId: "$context.requestId",
  extendedRequestId: "$context.extendedRequestId",
  functionRequestId: "$context.awsEndpointRequestId",
  traceId: "$context.xrayTraceId",
  time: "$context.requestTimeEpoch",
  method: "$context.httpMethod",
  route: "$context.resourcePath",
  status: "$context.status",
  gatewayError: "$context.error.responseType",
  milliseconds: "$context.responseLatency",
  bytes: "$context.responseLength",
  functionStatus: "$context.integration.status",
  functionMilliseconds: "$context.integration.latency",
  // Only a streamed response has it.
  firstByteMilliseconds: "$context.integration.timeToFirstContent",
  authorizerStatus: "$context.authorizer.status",
  authorizerMilliseconds: "$context.authorizer.latency",
  firewallStatus: "$context.waf.status",
} as const;

/**
 * The API with the service defaults: regional, over TLS 1.2 or newer, each method throttled, its refusals from the
 * error catalogue, an access log in JSON, and no log of what was sent.
 */
export class ServiceApi extends RestApi {
  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    const { traits, throttling, traced, awsHostIsOpen, corsOrigins, gatewayMayLog } = props;
    const accessLog = new ServiceLog(scope, `${id}AccessLog`, traits);
    accessLog.addMetricFilter("Throttled", {
      filterPattern: FilterPattern.stringValue(
        `$.${"gatewayError" satisfies keyof typeof accessLogLine}`,
        "=",
        ResponseType.THROTTLED.responseType,
      ),
      metricNamespace: metricNamespaceOf(scope),
      metricName: gatewayThrottled,
      metricValue: "1",
    });
    super(scope, id, {
      // A dimension of API Gateway's metrics, so it must differ between stages.
      restApiName: Stack.of(scope).stackName,
      description: "Network Capabilities Service",
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: !awsHostIsOpen,
      // API Gateway does not compress streamed responses, nor those that a function has compressed.
      minCompressionSize: Size.kibibytes(compressedKibibytes),
      // Bodies reach the functions as the bytes that were sent.
      binaryMediaTypes: ["*/*"],
      // A setting of the whole account, which stays after the stack is deleted because other APIs may use it.
      cloudWatchRole: !gatewayMayLog,
      deployOptions: {
        stageName: apiStage,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogLine)),
        tracingEnabled: traced,
      },
    });
    // The API's own policy applies under a custom domain too; the default of a regional API is TLS 1.0.
    (this.node.defaultChild as CfnRestApi).securityPolicy = SecurityPolicy.TLS_1_2;
    // CDK would add a log setting for each method, and API Gateway accepts few settings in one update.
    (this.deploymentStage.node.defaultChild as CfnStage).methodSettings = methodSettings(throttling);
    // CDK gives this output a name with a hash.
    this.node.tryRemoveChild("Endpoint");
    // API Gateway applies this only when the API is deployed again.
    this.latestDeployment?.addToLogicalId({ awsHostIsOpen });
    addGatewayResponses(this, corsOrigins);
    this.#acknowledge(gatewayMayLog);
  }

  #acknowledge(gatewayMayLog: boolean): void {
    Validations.of(this).acknowledge({
      id: "AwsSolutions-APIG2",
      reason:
        "Each function checks the whole request against the schema that its endpoint is documented " +
        "with, and answers with the codes of the specification; a validator of API Gateway would " +
        "answer before it, in another form.",
    });
    Validations.of(this.deploymentStage).acknowledge({
      id: "AwsSolutions-APIG6",
      reason:
        "Execution logs repeat the messages of errors, and one switch away whole requests with tokens " +
        "and phone numbers; no log of this service may hold those. The access log says how gateway, " +
        "authorizer and function ended each request, and the functions log the rest.",
    });
    if (gatewayMayLog) return;
    Validations.of(this.node.findChild("CloudWatchRole")).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
      reason:
        "The account's role for access logs, which only API Gateway can assume: it accepts no role " +
        "that lacks a right of this policy, which AWS keeps for exactly that.",
    });
  }
}

/** The form of CloudFormation: a slash before the path, and `~1` for each slash in it; the root is a slash alone. */
function methodSettings({ named, others }: StageThrottling): CfnStage.MethodSettingProperty[] {
  const setting = (resourcePath: string, httpMethod: string, { rate, burst }: Throttling) => ({
    resourcePath,
    httpMethod,
    throttlingRateLimit: rate,
    throttlingBurstLimit: burst,
  });
  const each = Object.entries(named).map(([method, limit]) => {
    const end = method.lastIndexOf("/");
    const path = method.slice(0, end);
    return setting(path === "/" ? path : `/${path.replaceAll("/", "~1")}`, method.slice(end + 1), limit);
  });
  return [setting("/*", "*", others), ...each];
}
