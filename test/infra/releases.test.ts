import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import type { FunctionId } from "../../infra/functions.ts";
import {
  configured,
  deployed,
  functionOf,
  only,
  reference,
  resourcesOf,
  servedIn,
  statementsOf,
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
  EvaluationPeriods: z.literal(1),
  Metrics: z.tuple([z.object({ Expression: z.string() })]).rest(
    z.object({
      Id: z.string(),
      MetricStat: z.object({
        Metric: z.object({
          Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
          MetricName: z.string(),
          Namespace: z.string(),
        }),
        Period: z.literal(300),
        Stat: z.string(),
      }),
    }),
  ),
  Threshold: z.number(),
  TreatMissingData: z.literal("notBreaching"),
});

const released = servedIn.prod.functionIds.filter((id) => id !== "keys/rotate");

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
  return named.map((name) => {
    const properties = alarmProperties.parse(deployed.Resources[name]?.Properties);
    const [{ Expression }, ...statistics] = properties.Metrics;
    const named = statistics.map(({ Id, MetricStat: { Metric, Stat } }) => {
      const dimensions = Metric.Dimensions.map(({ Name, Value }) => `${Name}=${textOf(Value)}`);
      return [Id, `${Stat} of ${Metric.Namespace} ${Metric.MetricName}, ${dimensions.sort().join(", ")}`];
    });
    return {
      logicalId: name,
      threshold: properties.Threshold,
      expression: Expression,
      ...Object.fromEntries(named),
    };
  });
}

/** A statistic of invocations of the version that a release of a function gives requests to. */
function ofVersion(stat: string, id: FunctionId) {
  const version = aliasOf(id, deployed).properties.FunctionVersion["Fn::GetAtt"].join(".");
  const name = `\${${functionOf(id)}}`;
  const dimensions = `ExecutedVersion=\${${version}}, FunctionName=${name}, Resource=${name}:live`;
  return `${stat} of AWS/Lambda Errors, ${dimensions}`;
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

  test(`a release of ${id} gets no request before its alarms watch the new version`, () => {
    expect(aliasOf(id, deployed).dependsOn).toEqual(
      expect.arrayContaining(group.AlarmConfiguration.Alarms.map(({ Name }) => Name.Ref)),
    );
  });
});

describe("a fault", () => {
  const streamed = endpoints.filter((endpoint) => "streamed" in endpoint).map(({ id }) => id);
  const scheduled: readonly FunctionId[] = ["population-density/sweep"];
  const special: readonly FunctionId[] = ["authorizer/authorize", ...streamed, ...scheduled];
  const crashesOf = (id: FunctionId) => {
    const version = aliasOf(id, deployed).properties.FunctionVersion["Fn::GetAtt"].join(".");
    return `Sum of NetworkCapabilities Crashes, release=\${${functionOf(id)}}:\${${version}}`;
  };
  const alarmsWithout = (id: FunctionId) => alarmsOf(id).map(({ logicalId: _, ...alarm }) => alarm);

  test.each(released.filter((id) => !special.includes(id)))(
    "a release of %s is rolled back when 15 % of ten invocations or more of the new version fail or crash",
    (id) => {
      expect(alarmsWithout(id)).toEqual([
        {
          threshold: 15,
          expression: "IF(requests >= 10, 100 * (failed + FILL(crashes, 0) / requests), 0)",
          failed: ofVersion("Average", id),
          crashes: crashesOf(id),
          requests: ofVersion("SampleCount", id),
        },
      ]);
    },
  );

  test.each(scheduled)(
    "a release of %s, which runs once a minute, is rolled back at half of three runs",
    (id) => {
      expect(alarmsWithout(id)).toMatchObject([
        {
          threshold: 50,
          expression: "IF(requests >= 3, 100 * (failed + FILL(crashes, 0) / requests), 0)",
        },
      ]);
    },
  );

  // Callers whose tokens are refused, or who read too slowly, end invocations with an error too: of any version alike.
  test.each(["authorizer/authorize", ...streamed] as const)(
    "a release of %s is rolled back when it fails for 30 % more of fifty invocations than all versions",
    (id) => {
      const name = `\${${functionOf(id)}}`;
      const [ending, ...others] = alarmsWithout(id);
      expect(ending).toEqual({
        threshold: 30,
        expression: "IF(requests >= 50, 100 * (failed - usual), 0)",
        failed: ofVersion("Average", id),
        requests: ofVersion("SampleCount", id),
        usual: `Average of AWS/Lambda Errors, FunctionName=${name}, Resource=${name}:live`,
      });
      const crashing = {
        threshold: 15,
        expression: "IF(requests >= 10, 100 * crashes / requests, 0)",
        crashes: crashesOf(id),
        requests: ofVersion("SampleCount", id),
      };
      expect(others).toEqual(id === "authorizer/authorize" ? [] : [crashing]);
    },
  );
});

describe("the check of a release", () => {
  const checkProperties = z.object({
    AtOnce: z.string(),
    Scopes: z.string(),
    ServiceToken: z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
    Versions: z.array(reference),
  });
  const checkOf = (from: Template) =>
    only(resourcesOf("Custom::ReleaseCheck", checkProperties, from), "checks of releases");
  const { logicalId, properties, dependsOn } = checkOf(deployed);
  const role = z
    .object({ Role: z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }) })
    .parse(deployed.Resources[properties.ServiceToken["Fn::GetAtt"][0]]?.Properties).Role["Fn::GetAtt"][0];

  test("every new version is checked before any alias shifts", () => {
    const versions = released.map((id) => aliasOf(id, deployed).properties.FunctionVersion["Fn::GetAtt"][0]);
    expect(properties.Versions.map(({ Ref }) => Ref).sort()).toEqual(versions.sort());
    expect(properties.AtOnce).toBe("false");
    for (const id of released) expect(aliasOf(id, deployed).dependsOn).toContain(logicalId);
  });

  test("the check has every scope, and may invoke every released function, before it runs", () => {
    const scopes = new Set(endpoints.flatMap(({ scope }) => scope ?? []));
    expect(new Set(properties.Scopes.split(" "))).toEqual(scopes);
    expect(dependsOn).toContain(role);
    const text = JSON.stringify(statementsOf(role, deployed));
    for (const id of released) expect(text).toContain(`"Fn::GetAtt":["${functionOf(id)}","Arn"]},":*"`);
  });

  test("a release at once is not checked", () => {
    expect(checkOf(configured).properties.AtOnce).toBe("true");
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

  test("every deployment group depends on CodeDeploy's role, with its rights", () => {
    const role = only(
      resourcesOf("AWS::IAM::Role", z.object({ AssumeRolePolicyDocument: z.unknown() }), deployed).filter(
        ({ properties }) => JSON.stringify(properties).includes("codedeploy.amazonaws.com"),
      ),
      "roles of CodeDeploy",
    ).logicalId;
    expect(statementsOf(role, deployed)).not.toEqual([]);
    for (const id of released) expect(groupOf(id, deployed).dependsOn).toContain(role);
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

test("the stage dev has no aliases, versions, deployment groups or check of releases", () => {
  const kinds = Object.values(template.Resources).map(({ Type }) => Type);
  const ofReleases = /::CodeDeploy::|::Lambda::(?:Alias|Version)$|^Custom::/;
  expect(kinds.filter((kind) => ofReleases.test(kind))).toEqual([]);
});
