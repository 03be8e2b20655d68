import { CfnRule, Fn, type Stack } from "aws-cdk-lib";

/**
 * Variables of every function of a template for `sam local`, which passes on only variables that the template has.
 * `ncs sam-env --local` prints their values.
 * https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-sam-cli-using-invoke.html
 */
export const samLocalEnvironment = {
  AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1",
  AWS_ENDPOINT_URL_SECRETS_MANAGER: "http://127.0.0.1",
  AWS_ENDPOINT_URL_SQS: "http://127.0.0.1",
} as const;

/** Makes CloudFormation refuse the template: its functions would look for their tables on the machine they run on. */
export function refuseDeployment(stack: Stack): void {
  new CfnRule(stack, "OnlyForSamLocal", {
    assertions: [
      {
        assert: Fn.conditionEquals("sam local", "a deployment"),
        assertDescription:
          "This template was synthesized with -c samLocal=true: synthesize it without, and deploy that.",
      },
    ],
  });
}
