import { AwsIntegration, ResponseTransferMode, TokenAuthorizer } from "aws-cdk-lib/aws-apigateway";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { ServiceRole } from "./service-role.ts";

/**
 * The role by which API Gateway invokes functions: one resource, where permissions of the functions are one for each.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway.html
 */
export class InvokingRole extends ServiceRole {
  constructor(scope: Construct, id: string, invoked: readonly IFunction[]) {
    super(scope, id, "apigateway.amazonaws.com");
    this.addToPolicy(
      new PolicyStatement({
        // It permits streamed invocations too.
        actions: ["lambda:InvokeFunction"],
        resources: invoked.map(({ functionArn }) => functionArn),
      }),
    );
  }
}

/** Answers a method with a function, which `role` may invoke. */
export function functionIntegration(
  called: IFunction,
  role: InvokingRole,
  { streamed = false } = {},
): AwsIntegration {
  const path = streamed
    ? `2021-11-15/functions/${called.functionArn}/response-streaming-invocations`
    : `2015-03-31/functions/${called.functionArn}/invocations`;
  const responseTransferMode = streamed ? ResponseTransferMode.STREAM : ResponseTransferMode.BUFFERED;
  return new AwsIntegration({
    service: "lambda",
    proxy: true,
    path,
    options: { responseTransferMode, credentialsRole: role },
  });
}

/** An authorizer whose `assumeRole` may invoke its function already. */
export class ServiceAuthorizer extends TokenAuthorizer {
  protected override setupPermissions(): void {
    // CDK would add a policy to the role for each authorizer.
  }
}
