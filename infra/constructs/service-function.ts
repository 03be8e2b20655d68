import { Duration, RemovalPolicy, Validations } from "aws-cdk-lib";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { functionDefaults } from "../functions.ts";
import type { StageTraits } from "../stage.ts";
import { ServiceLog } from "./service-log.ts";
import { ServiceRole } from "./service-role.ts";

/** What every function runs on. `package.json` has the same version of Node.js for development. */
export const runtime = Runtime.NODEJS_24_X;

interface ServiceFunctionProps {
  /** Folder of the function's bundle. */
  readonly bundle: string;
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly traits: StageTraits;
  /** Whether API Gateway's samples of requests go on here. */
  readonly traced: boolean;
  /** Seconds; `serve` ends a request well before. */
  readonly timeoutSeconds?: number;
  readonly memoryMegabytes?: number;
  /** Reserved concurrency; the account's is shared if absent. */
  readonly reservedConcurrency?: number;
}

/**
 * A function of the service with the service defaults: arm64, the newest Node.js runtime, a log group with limited
 * retention, and a role that may write logs, write traces where it is traced, and nothing else until it is granted more.
 */
export class ServiceFunction extends LambdaFunction {
  declare readonly role: ServiceRole;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const { bundle, description, environment, traits, traced, reservedConcurrency } = props;
    const { timeoutSeconds, memoryMegabytes } = { ...functionDefaults, ...props };
    const logGroup = new ServiceLog(scope, `${id}Logs`, traits);
    const role = new ServiceRole(scope, `${id}Role`, "lambda.amazonaws.com");
    logGroup.grantWrite(role);
    super(scope, id, {
      code: Code.fromAsset(bundle),
      handler: "index.handler",
      description,
      runtime,
      architecture: Architecture.ARM_64,
      memorySize: memoryMegabytes,
      timeout: Duration.seconds(timeoutSeconds),
      environment: { ...environment },
      logGroup,
      // Lambda's own lines below WARN, three for each request, say what the access log and the metrics of Lambda say. It
      // filters in JSON only; it leaves our lines as they are, as they are JSON, and takes metrics alone for INFO.
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2:
        environment.LOG_LEVEL === "DEBUG" ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      role,
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...(traced ? { tracing: Tracing.ACTIVE } : {}),
      // Replaced versions are kept, so that one can go back to them. A version whose deployment is rolled back is
      // deleted: otherwise deploying the same build again would fail, as Lambda publishes the same code only once.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    if (!traced) return;
    Validations.of(role).acknowledge({
      id: "AwsSolutions-IAM5[Resource::*]",
      reason:
        "AWS takes no other resource for xray:PutTraceSegments and xray:PutTelemetryRecords. A test " +
        "holds that nothing else in the policy has it.",
    });
  }
}
