import { CustomResource, Duration, Lazy, Stack, Validations } from "aws-cdk-lib";
import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Alias, type CfnFunction, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { ServiceFunction } from "./service-function.ts";
import { ServiceRole } from "./service-role.ts";

/** The alias of the version that gets requests. */
export const liveAlias = "live";

interface ReleasesProps {
  /** Whether a release gets all requests at once, without a check and regardless of alarms. */
  readonly atOnce: boolean;
  /** The function `releases/check`. */
  readonly check: ServiceFunction;
  /** Every scope that an endpoint needs. */
  readonly scopes: readonly string[];
}

/**
 * Releases of functions: a version of each is published, and all new versions are invoked with a probe. Then each
 * alias shifts a tenth of the requests to the new version, and all of them after five minutes, unless an alarm of the
 * function is raised before.
 */
export class Releases extends Construct {
  readonly #application: LambdaApplication;
  readonly #role: ServiceRole;
  readonly #atOnce: boolean;
  readonly #check: ServiceFunction;
  readonly #checked: CustomResource;
  readonly #versions: string[] = [];

  constructor(scope: Construct, id: string, { atOnce, check, scopes }: ReleasesProps) {
    super(scope, id);
    this.#check = check;
    this.#checked = new CustomResource(this, "Checked", {
      resourceType: "Custom::ReleaseCheck",
      serviceToken: check.functionArn,
      serviceTimeout: Duration.minutes(10),
      properties: {
        Versions: Lazy.list({ produce: () => this.#versions }),
        Scopes: scopes.join(" "),
        AtOnce: String(atOnce),
      },
    });
    this.#checked.node.addDependency(check.role);
    this.#application = new LambdaApplication(this, "Application");
    this.#role = new ServiceRole(this, "Role", "codedeploy.amazonaws.com");
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
    const alias = new Alias(released, "Live", { aliasName: liveAlias, version });
    // The alarms watch the new version before it gets its first request.
    alias.node.addDependency(this.#checked, ...alarms);
    this.#versions.push(version.functionArn);
    // What shifting this alias needs of AWS's managed policy, which permits it for every function of the account.
    const actions = ["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"];
    const versions = `${released.functionArn}:*`;
    this.#permit(actions, released.functionArn, versions);
    // For all versions: IAM may take seconds to apply a new permission, and the check runs at once.
    this.#check.addToRolePolicy(
      new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [versions] }),
    );
    const resource = `<${Stack.of(this).getLogicalId(released.node.defaultChild as CfnFunction)}.Arn>:*`;
    const reason = "of one function; a version has no number before it is published.";
    this.#acknowledge(resource, `The aliases and versions ${reason}`);
    Validations.of(this.#check.role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::${resource}]`,
      reason: `The versions ${reason}`,
    });
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
