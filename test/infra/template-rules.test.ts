import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { sharedFolder } from "./template.ts";
import { rules, writtenTemplate } from "./template-rules.ts";

/** Every stack of both stages, without and with every setting. */
const templates = (["dev", "deployed", "configured", "densityImport"] as const).flatMap((name) => {
  const folder = name === "dev" ? inject("assembly") : sharedFolder(name);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".template.json"))
    .map((file) => {
      const template = writtenTemplate.parse(JSON.parse(readFileSync(join(folder, file), "utf8")));
      return [`${name}: ${file}`, template] as const;
    });
});

test("there are both stages, and all three stacks", () => {
  expect(templates.map(([name]) => name).filter((name) => /^(?:dev|deployed)/.test(name))).toHaveLength(4);
  expect(templates.map(([name]) => name).filter((name) => name.includes("DensityImport"))).toHaveLength(2);
});

describe.each(Object.entries(rules))("%s", (_, rule) => {
  test.each(templates)("%s", (_name, template) => {
    expect(rule(template)).toEqual([]);
  });
});

const R = (Type: string, Properties: object) => ({ Resources: { R: { Type, Properties } } });
const statement = (one: object) => R("AWS::SQS::QueuePolicy", { PolicyDocument: { Statement: [one] } });
const table = {
  AttributeDefinitions: [{ AttributeName: "a" }, { AttributeName: "b" }],
  KeySchema: [{ AttributeName: "a" }],
  BillingMode: "PAY_PER_REQUEST",
};
const metric = (Id: string) => ({ Id, ReturnData: true, MetricStat: { Period: 60 } });

/** For each rule, a template that breaks it. */
const broken: Readonly<Record<keyof typeof rules, object>> = {
  "every parameter is used (W2001), under a name of its own (E3007)": {
    Parameters: { P: {} },
    Resources: {},
  },
  "outputs have names of letters and digits (E6004), and texts as values (E6101)": {
    Resources: {},
    Outputs: { "an-output": { Value: "1" } },
  },
  "a text with a variable is substituted (E1029), and no other is (W1020)": R("AWS::SQS::Queue", {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation would fill it in.
    QueueName: "q-${AWS::Region}",
  }),
  "what is replaced and what is deleted are both kept, or neither (W3011)": {
    Resources: { R: { Type: "AWS::SQS::Queue", DeletionPolicy: "Retain" } },
  },
  "texts are short enough (E3033), and numbers in range (E3034)": R("AWS::Lambda::Function", {
    Timeout: 901,
  }),
  "actions of policies exist (W3037)": statement({
    Effect: "Allow",
    Action: "sqs:SendMessages",
    Resource: "*",
  }),
  "statements of policies have an effect, actions, and whom or what they are for (E3510)": statement({
    Effect: "Allow",
    Action: "sqs:SendMessage",
  }),
  "the policies of a role have at most 10,240 characters": R("AWS::IAM::Policy", {
    Roles: [{ Ref: "Role" }],
    PolicyDocument: { Statement: [{ Resource: Array.from({ length: 90 }, () => ({ Ref: "F" })) }] },
  }),
  "names of variables can be had (E3663)": R("AWS::Lambda::Function", {
    Environment: { Variables: { AWS_REGION: "eu-west-1" } },
  }),
  "alarms look at ten metrics at most, by names in lower case, without a search, over a day at most": R(
    "AWS::CloudWatch::Alarm",
    { EvaluationPeriods: 1, Metrics: [metric("Value")] },
  ),
  "methods, authorizers and stages are of one API (E3698, E3699), and a method asks its authorizer (E3708)":
    R("AWS::ApiGateway::Method", { RestApiId: { Ref: "Api" }, AuthorizationType: "CUSTOM" }),
  "schedules are rates or cron expressions (E3027)": R("AWS::Events::Rule", {
    ScheduleExpression: "rate(1 minutes)",
  }),
  "tables define the attributes of their keys and no others (E3039), and indexes project few": R(
    "AWS::DynamoDB::Table",
    table,
  ),
};

test.each(Object.entries(rules))("a template that breaks it is found: %s", (name, rule) => {
  expect(rule(writtenTemplate.parse(broken[name as keyof typeof rules]))).toHaveLength(1);
});
