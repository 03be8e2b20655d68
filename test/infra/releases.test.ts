import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { functionIds } from "../../infra/bundles.ts";
import type { FunctionId } from "../../infra/functions.ts";
import { logId } from "../../shared/aws/log.ts";
import {
  configured,
  deployed,
  functionOf,
  only,
  reference,
  resourcesOf,
  type Template,
  template,
  textOf,
} from "./template.ts";

const aliasProperties = z.strictObject({
  FunctionName: reference,
  FunctionVersion: z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Version")]) }),
  Name: z.string(),
});

const groupProperties = z.object({
  AlarmConfiguration: z.object({
    Alarms: z.array(z.strictObject({ Name: reference })).default([]),
    Enabled: z.boolean(),
  }),
  ApplicationName: reference,
  AutoRollbackConfiguration: z.object({ Enabled: z.boolean(), Events: z.array(z.string()) }),
  DeploymentConfigName: z.string(),
});

const updatePolicy = z.object({
  CodeDeployLambdaAliasUpdate: z.strictObject({
    ApplicationName: reference,
    DeploymentGroupName: reference,
  }),
});

const alarmProperties = z.object({
  Dimensions: z.array(z.unknown()).default([]),
  /** None for an alarm on an expression. */
  MetricName: z.string().optional(),
  Threshold: z.number(),
});

const released = functionIds.filter((id) => id !== "keys/rotate");

function aliasOf(id: FunctionId, from: Template) {
  return only(
    resourcesOf("AWS::Lambda::Alias", aliasProperties, from).filter(
      ({ properties }) => properties.FunctionName.Ref === functionOf(id),
    ),
    `aliases of ${id}`,
  );
}

function groupOf(id: FunctionId, from: Template) {
  const { UpdatePolicy } = from.Resources[aliasOf(id, from).logicalId] ?? {};
  const { ApplicationName, DeploymentGroupName } =
    updatePolicy.parse(UpdatePolicy).CodeDeployLambdaAliasUpdate;
  const group = only(
    resourcesOf("AWS::CodeDeploy::DeploymentGroup", groupProperties, from).filter(
      ({ logicalId }) => logicalId === DeploymentGroupName.Ref,
    ),
    "deployment groups",
  );
  expect(group.properties.ApplicationName).toEqual(ApplicationName);
  return group;
}

/** The alarms that take a release of a function back, with their statistics in one line each. */
function alarmsOf(id: FunctionId) {
  const named = groupOf(id, deployed).properties.AlarmConfiguration.Alarms.map(({ Name }) => Name.Ref);
  return resourcesOf("AWS::CloudWatch::Alarm", alarmProperties, deployed)
    .filter(({ logicalId }) => named.includes(logicalId))
    .map(({ properties }) => properties);
}

describe.each(released)("a release of %s", (id) => {
  const { properties: alias } = aliasOf(id, deployed);
  const { properties: group } = groupOf(id, deployed);

  test(`a release of ${id} is a version of its own, kept when replaced and deleted when rolled back`, () => {
    expect(alias.Name).toBe("live");
    const version = deployed.Resources[alias.FunctionVersion["Fn::GetAtt"][0]];
    expect(version).toMatchObject({
      Type: "AWS::Lambda::Version",
      Properties: { FunctionName: { Ref: functionOf(id) } },
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
    });
  });

  test(`a release of ${id} gets a tenth of the requests for five minutes and then all`, () => {
    expect(group.DeploymentConfigName).toBe("CodeDeployDefault.LambdaCanary10Percent5Minutes");
  });

  test(`a release of ${id} is rolled back when an alarm is raised, and when it is stopped or fails`, () => {
    expect(group.AlarmConfiguration.Enabled).toBe(true);
    expect(group.AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: ["DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_REQUEST", "DEPLOYMENT_STOP_ON_ALARM"],
    });
  });

  test(`a release of ${id} is rolled back at the first fault`, () => {
    const alarms = alarmsOf(id);
    expect(alarms).toHaveLength(group.AlarmConfiguration.Alarms.length);
    expect(alarms.map(({ Threshold }) => Threshold)).toEqual(alarms.map(() => 1));
  });
});

const filterProperties = z.object({
  FilterPattern: z.string(),
  LogGroupName: reference,
  MetricTransformations: z.tuple([z.object({ MetricName: z.string() })]),
});

/** What lines of a function's own log count to a metric. */
function patternsFor(metric: string | undefined, id: FunctionId): string[] {
  const { LoggingConfig } = z
    .object({ LoggingConfig: z.object({ LogGroup: reference }) })
    .parse(deployed.Resources[functionOf(id)]?.Properties);
  return resourcesOf("AWS::Logs::MetricFilter", filterProperties, deployed)
    .filter(({ properties }) => properties.MetricTransformations[0].MetricName === metric)
    .filter(({ properties }) => properties.LogGroupName.Ref === LoggingConfig.LogGroup.Ref)
    .map(({ properties }) => properties.FilterPattern);
}

describe("a fault", () => {
  const streamed = endpoints.filter((endpoint) => "streamed" in endpoint).map(({ id }) => id);
  const logged: readonly FunctionId[] = ["authorizer/authorize", ...streamed];

  test.each(released.filter((id) => !logged.includes(id)))(
    "the alarms of %s count executions that failed and crashes that were answered",
    (id) => {
      const alarms = alarmsOf(id);
      expect(alarms).toHaveLength(2);
      const errors = alarms.find(({ MetricName }) => MetricName === "Errors");
      const crashes = alarms.find(({ MetricName }) => MetricName !== "Errors");
      expect(errors).toMatchObject({
        MetricName: "Errors",
        Dimensions: [{ Name: "FunctionName", Value: { Ref: functionOf(id) } }],
      });
      expect(patternsFor(crashes?.MetricName, id)).toEqual([`{ $.id = "${logId("CRASH")}" }`]);
    },
  );

  test.each(streamed)("the alarms of %s ignore callers that read too slowly", (id) => {
    const patterns = alarmsOf(id).flatMap(({ MetricName }) => patternsFor(MetricName, id));
    expect(patterns.sort()).toEqual([
      '"Invoke Error" -CallerTooSlow',
      '?"Uncaught Exception" ?"Task timed out" ?"Runtime exited"',
      `{ $.id = "${logId("CRASH")}" }`,
    ]);
  });

  // API Gateway's contract: whoever refuses a token throws.
  test("the alarm of the authorizer counts every failure but a refused token", () => {
    const id = "authorizer/authorize";
    const { MetricName } = only(alarmsOf(id), "alarms");
    expect(patternsFor(MetricName, id).sort()).toEqual([
      '"Invoke Error" -Unauthorized',
      '?"Uncaught Exception" ?"Task timed out" ?"Runtime exited"',
    ]);
  });
});

describe("what callers reach is released", () => {
  const permissions = resourcesOf(
    "AWS::Lambda::Permission",
    z.object({ FunctionName: z.unknown(), Principal: z.string() }),
    deployed,
  ).map(({ properties }) => properties);

  test("nobody but Secrets Manager may call a function without its alias", () => {
    const aliases = new Set(released.map((id) => `\${${aliasOf(id, deployed).logicalId}}`));
    const past = permissions.filter(({ FunctionName }) => !aliases.has(textOf(FunctionName)));
    expect(past).toEqual([
      {
        FunctionName: { "Fn::GetAtt": [functionOf("keys/rotate"), "Arn"] },
        Principal: "secretsmanager.amazonaws.com",
      },
    ]);
  });

  test("API Gateway calls the authorizer by its alias", () => {
    const uri = z.object({ AuthorizerUri: z.unknown() });
    const authorizers = resourcesOf("AWS::ApiGateway::Authorizer", uri, deployed);
    const { logicalId } = aliasOf("authorizer/authorize", deployed);
    expect(authorizers.length).toBeGreaterThan(0);
    for (const { properties } of authorizers) {
      expect(textOf(properties.AuthorizerUri)).toContain(`/functions/\${${logicalId}}/invocations`);
    }
  });

  test("every deployment group depends on the policy of CodeDeploy's role", () => {
    const policies = resourcesOf("AWS::IAM::Policy", z.object({ Roles: z.array(reference) }), deployed);
    const role = only(
      resourcesOf("AWS::IAM::Role", z.object({ AssumeRolePolicyDocument: z.unknown() }), deployed).filter(
        ({ properties }) => JSON.stringify(properties).includes("codedeploy.amazonaws.com"),
      ),
      "roles of CodeDeploy",
    ).logicalId;
    const policy = only(
      policies.filter(({ properties }) => properties.Roles.some(({ Ref }) => Ref === role)),
      "policies",
    ).logicalId;
    for (const id of released) expect(groupOf(id, deployed).dependsOn).toContain(policy);
  });
});

test("a release at once gets all requests and ignores alarms", () => {
  for (const id of released) {
    const { properties } = groupOf(id, configured);
    expect(properties.DeploymentConfigName).toBe("CodeDeployDefault.LambdaAllAtOnce");
    expect(properties.AlarmConfiguration).toEqual({ Alarms: [], Enabled: false });
    expect(properties.AutoRollbackConfiguration.Events).not.toContain("DEPLOYMENT_STOP_ON_ALARM");
  }
});

test("the stage dev has no aliases, versions or deployment groups", () => {
  const kinds = Object.values(template.Resources).map(({ Type }) => Type);
  expect(kinds.filter((kind) => /::CodeDeploy::|::Lambda::(?:Alias|Version)$/.test(kind))).toEqual([]);
});
