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
  /** Whose tokens the authorizer accepts. */
  readonly acceptedIssuers: readonly AcceptedIssuer[];
  /** The issuers whose tokens a release may refuse that were accepted before. */
  readonly retiredIssuers: readonly string[];
}

/** An issuer and the audiences that its tokens may name. */
export interface AcceptedIssuer {
  readonly issuer: string;
  readonly audiences: readonly string[];
}

/**
 * The most deployment groups of a role. All of them start in the same second, and Lambda throttles by role what they ask
 * of it: `the number of requests by the IAM role … exceeded the request limit for AWSLambda`, reported for templates of
 * many groups and one role, as CDK and SAM make them.
 * https://github.com/davidgf/serverless-plugin-canary-deployments/issues/159
 */
export const maxGroupsOfRole = 4;

/**
 * Releases of functions: a version of each is published, and all new versions are invoked with a probe. Then each
 * alias shifts a tenth of the requests to the new version, and all of them after ten minutes, unless an alarm of any
 * function is raised before: then all that still shift are stopped.
 */
export class Releases extends Construct {
  readonly #application: LambdaApplication;
  readonly #roles = new Map<number, ServiceRole>();
  readonly #atOnce: boolean;
  readonly #check: ServiceFunction;
  readonly #checked: CustomResource;
  readonly #versions: string[] = [];
  readonly #groups: LambdaDeploymentGroup[] = [];
  /**
   * What every group judges: the metric alarms of all functions, not one composite alarm over them. CodeDeploy is
   * documented to judge an alarm that "watches a single metric", and CloudWatch tells the state of a composite alarm only
   * to those who ask for that type.
   * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-groups-configure-advanced-options.html
   * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
   */
  readonly #alarms: Alarm[] = [];

  constructor(scope: Construct, id: string, props: ReleasesProps) {
    const { atOnce, check, scopes, acceptedIssuers, retiredIssuers } = props;
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
        // CloudFormation gives the check those of the release before, too.
        Accepted: acceptedIssuers.map(({ issuer, audiences }) => ({ Issuer: issuer, Audiences: audiences })),
        Retired: retiredIssuers,
      },
    });
    this.#checked.node.addDependency(check.role);
    this.#application = new LambdaApplication(this, "Application");
    this.#atOnce = atOnce;
  }

  /**
   * Adds a function, which CodeDeploy shifts by the role of this number. Returns the alias that must be used to invoke
   * it.
   */
  add(released: ServiceFunction, alarms: Alarm[], roleNumber: number): IFunction {
    const version = this.checkVersionOf(released);
    const alias = new Alias(released, "Live", { aliasName: liveAlias, version });
    // The alarms watch the new version before it gets its first request.
    alias.node.addDependency(this.#checked, ...alarms);
    // What shifting this alias needs of AWS's managed policy, which permits it for every function of the account.
    const actions = ["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"];
    const versions = `${released.functionArn}:*`;
    const role = this.#roleOf(roleNumber);
    role.addToPolicy(new PolicyStatement({ actions, resources: [released.functionArn, versions] }));
    acknowledge(role, this.#versionsOf(released), `The aliases and versions ${oneFunction}`);
    const group = new LambdaDeploymentGroup(released, "Release", {
      application: this.#application,
      role: role.withoutPolicyUpdates(),
      alias,
      autoRollback: { stoppedDeployment: true },
      deploymentConfig: this.#atOnce
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
    });
    // The role must have its rights before it is used.
    group.node.addDependency(role);
    this.#judge(group, alarms);
    return alias as IFunction;
  }

  /** Publishes a version of a function, which is checked before any alias shifts. */
  checkVersionOf(released: ServiceFunction): IVersion {
    // CDK's types are not written for `exactOptionalPropertyTypes`, so this needs a cast.
    const version = released.currentVersion as IVersion;
    this.#versions.push(version.functionArn);
    // For all versions: IAM may take seconds to apply a new permission, and the check runs at once.
    this.#check.addToRolePolicy(
      new PolicyStatement({
        actions: ["lambda:InvokeFunction"],
        resources: [`${released.functionArn}:*`],
      }),
    );
    acknowledge(this.#check.role, this.#versionsOf(released), `The versions ${oneFunction}`);
    return version;
  }

  /** The versions of a function as AWS Solutions names them. */
  #versionsOf(released: ServiceFunction): string {
    return `<${Stack.of(this).getLogicalId(released.node.defaultChild as CfnFunction)}.Arn>:*`;
  }

  /** Makes each group judge the alarms of all, except those of a release that ignores them. */
  #judge(group: LambdaDeploymentGroup, alarms: readonly Alarm[]): void {
    const earlier = [...this.#groups];
    this.#groups.push(group);
    if (this.#atOnce) return;
    this.#alarms.push(...alarms);
    for (const one of earlier) for (const alarm of alarms) one.addAlarm(alarm);
    for (const alarm of this.#alarms) group.addAlarm(alarm);
  }

  #roleOf(roleNumber: number): ServiceRole {
    const existing = this.#roles.get(roleNumber);
    if (existing !== undefined) return existing;
    const role = new ServiceRole(this, `Role${roleNumber}`, "codedeploy.amazonaws.com");
    role.addToPolicy(new PolicyStatement({ actions: ["cloudwatch:DescribeAlarms"], resources: ["*"] }));
    acknowledge(
      role,
      "*",
      "CodeDeploy reads the state of alarms, which AWS's own policy for it grants for all too.",
    );
    this.#roles.set(roleNumber, role);
    return role;
  }
}

/** Why a right is for all versions. */
const oneFunction = "of one function; a version has no number before it is published.";

function acknowledge(role: ServiceRole, resource: string, reason: string): void {
  Validations.of(role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
}
