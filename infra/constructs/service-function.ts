import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

interface ServiceFunctionProps {
  /** Folder of the function's bundle. */
  readonly bundle: string;
  readonly description: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Seconds; the pipeline gives up well before. */
  readonly timeoutSeconds?: number;
  readonly memoryMegabytes?: number;
}

/**
 * A function of the service with the house defaults: arm64, the newest Node.js runtime, a log group of its own
 * that forgets after a month, and a role that may write there and nothing else until it is granted more.
 */
export class ServiceFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const { bundle, description, environment, timeoutSeconds = 10, memoryMegabytes = 512 } = props;
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    super(scope, id, {
      code: Code.fromAsset(bundle),
      handler: "index.handler",
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMegabytes,
      timeout: Duration.seconds(timeoutSeconds),
      environment: { ...environment },
      logGroup,
      role,
    });
  }
}
