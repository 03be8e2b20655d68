import { Stack } from "aws-cdk-lib";
import {
  AwsIntegration,
  ResponseTransferMode,
  type RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";

const principal = new ServicePrincipal("apigateway.amazonaws.com");

/**
 * Lets the deployed stage of an API invoke a function, whatever the method: one permission, where CDK's integration adds
 * one for each method. The stage that the console tests methods with has no permission.
 */
export function permitApi(api: RestApi, called: IFunction): void {
  const sourceArn = api.arnForExecuteApi("*", "/*", api.deploymentStage.stageName);
  called.addPermission("InvokedByApi", { principal, sourceArn });
}

/** Lets the authorizers of an API invoke their function. */
export function permitAuthorizers(api: RestApi, called: IFunction): void {
  const resourceName = "authorizers/*";
  const sourceArn = Stack.of(api).formatArn({
    service: "execute-api",
    resource: api.restApiId,
    resourceName,
  });
  called.addPermission("InvokedByAuthorizers", { principal, sourceArn });
}

/** Answers a method with a function, which `permitApi` lets it invoke. */
export function functionIntegration(called: IFunction, { streamed = false } = {}): AwsIntegration {
  const path = streamed
    ? `2021-11-15/functions/${called.functionArn}/response-streaming-invocations`
    : `2015-03-31/functions/${called.functionArn}/invocations`;
  const responseTransferMode = streamed ? ResponseTransferMode.STREAM : ResponseTransferMode.BUFFERED;
  return new AwsIntegration({ service: "lambda", proxy: true, path, options: { responseTransferMode } });
}

/** An authorizer whose function `permitAuthorizers` lets it invoke. */
export class ServiceAuthorizer extends TokenAuthorizer {
  protected override setupPermissions(): void {
    // One permission is for all authorizers.
  }
}
