import { Stack, Validations } from "aws-cdk-lib";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, type CfnFunction, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { ServiceFunction } from "./service-function.ts";

interface ReleasesProps {
  /** Whether a release gets all requests at once, without a check and whatever the alarms say. */
  readonly atOnce: boolean;
}

/**
 * Releases of functions: a version of each is published, and all new versions are invoked with a probe. Then each
 * alias shifts a tenth of the requests to the new version, and all of them after five minutes, unless an alarm of the
 * function is raised before.
 */
export class Releases extends Construct {
  readonly #application: LambdaApplication;
  readonly #role: Role;
  readonly #atOnce: boolean;

  constructor(scope: Construct, id: string, { atOnce }: ReleasesProps) {
    super(scope, id);
    this.#application = new LambdaApplication(this, "Application");
    this.#role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    this.#atOnce = atOnce;
    this.#permit(["cloudwatch:DescribeAlarms"], "*");
    this.#acknowledge(
      "*",
      "CodeDeploy reads the state of alarms, which AWS's own policy for it grants for all too.",
    );
  }

  /** Adds a function. Returns the alias that must be used to invoke it. */
  add(released: ServiceFunction, alarms: Alarm[]): IFunction {
    // CDK's types are not written for `exactOptionalPropertyTypes`, so this needs a cast.
    const version = released.currentVersion as IVersion;
    const alias = new Alias(released, "Live", { aliasName: "live", version });
    // Of AWS's policy for CodeDeploy, which is for every function of the account, what shifting this alias takes.
    const actions = ["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"];
    const versions = `${released.functionArn}:*`;
    this.#permit(actions, released.functionArn, versions);
    this.#acknowledge(
      `<${Stack.of(this).getLogicalId(released.node.defaultChild as CfnFunction)}.Arn>:*`,
      "The aliases and versions of one function, which CodeDeploy shifts; a version has no number " +
        "before it is published.",
    );
    const group = new LambdaDeploymentGroup(released, "Release", {
      application: this.#application,
      role: this.#role.withoutPolicyUpdates(),
      alias,
      autoRollback: { stoppedDeployment: true },
      ...(this.#atOnce
        ? { deploymentConfig: LambdaDeploymentConfig.ALL_AT_ONCE }
        : { deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES, alarms }),
    });
    // The role must have its rights before it is used.
    group.node.addDependency(this.#role);
    return alias as IFunction;
  }

  #permit(actions: string[], ...resources: string[]): void {
    this.#role.addToPolicy(new PolicyStatement({ actions, resources }));
  }

  #acknowledge(resource: string, reason: string): void {
    Validations.of(this.#role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
  }
}
