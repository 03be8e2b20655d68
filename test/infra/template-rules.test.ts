import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkedNames } from "./shared-templates.ts";
import { parseOne, sharedFolder } from "./template.ts";
import { rules } from "./template-rules.ts";

/** Every stack of both stages, without and with every setting, and at its largest. */
const templates = [...checkedNames, "largest" as const].flatMap((name) =>
  readdirSync(sharedFolder(name))
    .filter((file) => file.endsWith(".template.json"))
    .map((file) => [name, file, readFileSync(join(sharedFolder(name), file), "utf8")] as const),
);

/** A template with one resource, as its text. */
const withResource = (Type: string, Properties: object) =>
  JSON.stringify({ Resources: { R: { Type, Properties } } });
const metric = (members: object = {}) => ({ MetricStat: { Period: 60 }, ...members });
const withAlarm = (properties: object) =>
  withResource("AWS::CloudWatch::Alarm", { EvaluationPeriods: 1, ...properties });

/** Templates that break a rule, each in one way. */
const broken: Readonly<Record<keyof typeof rules, readonly string[]>> = {
  "texts and numbers within the limits of their services": [
    withResource("AWS::ApiGateway::RestApi", { Description: "x".repeat(1_025) }),
    withResource("AWS::Lambda::Function", { MemorySize: 10_241 }),
  ],
  "policies of a role within 10,240 characters": [
    withResource("AWS::IAM::Role", {
      Policies: Array.from({ length: 2 }, () => ({
        PolicyDocument: {
          Statement: [
            { Effect: "Allow", Action: "a", Resource: Array.from({ length: 45 }, () => ({ Ref: "F" })) },
          ],
        },
      })),
    }),
  ],
  "alarms that CloudWatch can evaluate": [
    withAlarm({ Metrics: Array.from({ length: 11 }, (_, index) => metric({ ReturnData: index === 0 })) }),
    withAlarm({ Metrics: [{ Expression: "SUM(SEARCH('{A} b', 'Sum'))" }] }),
    withAlarm({ Metrics: [metric(), metric()] }),
    withAlarm({ Metrics: [metric({ ReturnData: false })] }),
    withAlarm({ Metrics: [{ MetricStat: { Period: 90 } }] }),
    withAlarm({ Period: 3_600, EvaluationPeriods: 25 }),
  ],
  "indexes that project at most 100 attributes": [
    withResource("AWS::DynamoDB::GlobalTable", {
      GlobalSecondaryIndexes: [
        { Projection: { NonKeyAttributes: Array.from({ length: 101 }, (_, index) => `a${index}`) } },
      ],
    }),
  ],
  "at most 76 changes in one update of the stage": [
    withResource("AWS::ApiGateway::Stage", {
      MethodSettings: Array.from({ length: 39 }, (_, index) => ({
        HttpMethod: "GET",
        ResourcePath: `/~1${index}`,
        ThrottlingBurstLimit: 1,
        ThrottlingRateLimit: 1,
      })),
    }),
  ],
  "at most four deployment groups of a role, and 50 alarms of a group": [
    JSON.stringify({
      Resources: Object.fromEntries(
        ["A", "B", "C", "D", "E"].map((id) => [
          id,
          { Type: "AWS::CodeDeploy::DeploymentGroup", Properties: { ServiceRoleArn: "one" } },
        ]),
      ),
    }),
    withResource("AWS::CodeDeploy::DeploymentGroup", {
      ServiceRoleArn: "one",
      AlarmConfiguration: { Alarms: Array.from({ length: 51 }, (_, index) => ({ Name: `${index}` })) },
    }),
  ],
};

describe.each(Object.entries(rules))("%s", (name, rule) => {
  test.each(templates)(`the template %s/%s has ${name}`, (_name, _file, template) => {
    expect(rule(parseOne(template))).toEqual([]);
  });

  test.each(broken[name as keyof typeof rules])(`a template without ${name} is found`, (template) => {
    expect(rule(parseOne(template))).toHaveLength(1);
  });
});
