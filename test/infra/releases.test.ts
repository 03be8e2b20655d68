import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { type FunctionId, functionRecords } from "../../infra/functions.ts";
import { configuration } from "../../infra/variables.ts";
import { everySetting } from "./shared-templates.ts";
import {
  attribute,
  configured,
  deployed,
  functionIdsOf,
  functionOf,
  only,
  reference,
  resourcesOf,
  statementsOf,
  type Template,
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
  ServiceRoleArn: attribute,
});

const updatePolicy = z.object({
  CodeDeployLambdaAliasUpdate: z.strictObject({
    ApplicationName: reference,
    DeploymentGroupName: reference,
  }),
});

const released = functionIdsOf.prod.filter((id) => id !== "keys/rotate");

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

describe.each(released)("a release of %s", (id) => {
  const { properties: group } = groupOf(id, deployed);

  test(`a release of ${id} gets no request before its alarms watch the new version`, () => {
    expect(aliasOf(id, deployed).dependsOn).toEqual(
      expect.arrayContaining(group.AlarmConfiguration.Alarms.map(({ Name }) => Name.Ref)),
    );
  });
});

describe("the check of a release", () => {
  const checkProperties = z.object({
    Accepted: z.array(z.unknown()),
    AtOnce: z.string(),
    Retired: z.array(z.string()),
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

  test("the check is told whose tokens the authorizer accepts, and which issuers are retired", () => {
    expect(properties).toMatchObject({
      Accepted: [{ Issuer: configuration.TOKEN_ISSUER.default, Audiences: ["network-capabilities"] }],
      Retired: [],
    });
    expect(checkOf(configured).properties).toMatchObject({
      Accepted: [{ Issuer: everySetting.TOKEN_ISSUER }, { Issuer: "https://login.operator.example" }],
      Retired: everySetting.retiredIssuers.split(","),
    });
  });

  test("every new version, that of the rotation too, is checked before any alias shifts", () => {
    const versions = resourcesOf("AWS::Lambda::Version", z.object({ FunctionName: reference }), deployed);
    expect(properties.Versions.map(({ Ref }) => Ref).sort()).toEqual(
      versions.map(({ logicalId }) => logicalId).sort(),
    );
    const functions = versions.map((one) => one.properties.FunctionName.Ref);
    expect(functions.sort()).toEqual(functionIdsOf.prod.map(functionOf).sort());
    expect(properties.AtOnce).toBe("false");
    for (const id of released) expect(aliasOf(id, deployed).dependsOn).toContain(logicalId);
  });

  test("the check has every scope, and may invoke every function, before it runs", () => {
    const scopes = new Set(endpoints.flatMap(({ scope }) => scope ?? []));
    expect(new Set(properties.Scopes.split(" "))).toEqual(scopes);
    expect(dependsOn).toContain(role);
    const text = JSON.stringify(statementsOf(role, deployed));
    for (const id of functionIdsOf.prod)
      expect(text).toContain(`"Fn::GetAtt":["${functionOf(id)}","Arn"]},":*"`);
  });
});

describe("what callers reach is released", () => {
  test("every function but the rotation is shifted by the role that its record numbers, four functions a role", () => {
    const numbers = released.map((id) => functionRecords[id].releaseRole);
    expect(functionRecords["keys/rotate"].releaseRole).toBeUndefined();
    expect([...new Set(numbers)].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    for (const id of released) {
      const role = groupOf(id, deployed).properties.ServiceRoleArn["Fn::GetAtt"][0];
      expect(role).toMatch(new RegExp(`^ReleasesRole${functionRecords[id].releaseRole}[0-9A-F]{8}$`));
    }
  });

  test("every deployment group depends on its role, which may shift its function", () => {
    for (const id of released) {
      const { properties, dependsOn } = groupOf(id, deployed);
      const role = properties.ServiceRoleArn["Fn::GetAtt"][0];
      expect(dependsOn).toContain(role);
      expect(JSON.stringify(statementsOf(role, deployed))).toContain(`"${functionOf(id)}"`);
    }
  });

  test("every deployment group judges the alarms of all functions for ten minutes, none of them composite", () => {
    const watched = released.flatMap((id) => groupOf(id, deployed).properties.AlarmConfiguration.Alarms);
    const all = [...new Set(watched.map(({ Name }) => Name.Ref))].sort();
    expect(all.length).toBeGreaterThanOrEqual(released.length);
    for (const name of all) expect(deployed.Resources[name]?.Type).toBe("AWS::CloudWatch::Alarm");
    for (const id of released) {
      const { AlarmConfiguration, DeploymentConfigName } = groupOf(id, deployed).properties;
      expect(AlarmConfiguration.Alarms.map(({ Name }) => Name.Ref).sort()).toEqual(all);
      expect(DeploymentConfigName).toBe("CodeDeployDefault.LambdaCanary10Percent10Minutes");
    }
  });
});
