/**
 * What CloudFormation or a service refuses only while a stack is deployed, and neither CDK's validation, cdk-nag nor
 * cfn-lint 1.51 finds: `checks.test.ts` holds what CDK and cdk-nag find, `.ci/run` runs cfn-lint where it is installed.
 */
import * as z from "zod";
import { maxGroupsOfRole } from "../../infra/constructs/releases.ts";
import { maxMethodChanges } from "../../infra/throttling.ts";
import { policiesOf } from "../../tools/cli/grants.ts";
import { resourcesOf, type Template } from "./template.ts";

/** Finds the resources of a template that break a rule, each with what breaks it. */
type Rule = (template: Template) => string[];

/** The longest texts, and the least and greatest numbers, by type and property. */
const limits: Readonly<Record<string, Readonly<Record<string, number | readonly [number, number]>>>> = {
  "AWS::ApiGateway::Authorizer": { Name: 128 },
  "AWS::ApiGateway::RestApi": { Description: 1_024, MinimumCompressionSize: [0, 10_485_760] },
  "AWS::DynamoDB::GlobalTable": { TableName: 255 },
  "AWS::Lambda::Function": { MemorySize: [128, 10_240] },
  "AWS::WAFv2::WebACL": { Description: 256 },
};

/**
 * The services refuse the request of CloudFormation, such as Lambda: `'MemorySize' value failed to satisfy constraint:
 * Member must have value less than or equal to 10240`.
 */
const valuesAreWithinLimits: Rule = ({ Resources }) =>
  Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
    Object.entries(limits[Type] ?? {}).flatMap(([name, limit]) => {
      const value = Properties[name];
      if (typeof limit === "number")
        return typeof value === "string" && value.length > limit ? [`${id}.${name} is too long`] : [];
      const [min, max] = limit;
      return typeof value === "number" && (value < min || value > max) ? [`${id}.${name} is ${value}`] : [];
    }),
  );

/** What is only known when deployed is at most this long in a policy: the ARN of a function. */
const unknownCharacters = 130;

function isKnownWhenDeployed(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const [name, ...others] = Object.keys(value);
  return others.length === 0 && (name === "Ref" || name === "Fn::GetAtt");
}

/**
 * IAM refuses the policy that goes beyond, of all inline policies of a role together: `LimitExceeded: Maximum policy
 * size of 10240 bytes exceeded for role …`.
 */
const policiesOfARoleFit: Rule = (template) => {
  const sizes = new Map<string, number>();
  for (const { role, statements } of policiesOf(template)) {
    const deployed = JSON.stringify({ Version: "2012-10-17", Statement: statements }, (_, value) =>
      isKnownWhenDeployed(value) ? "x".repeat(unknownCharacters) : value,
    );
    sizes.set(role, (sizes.get(role) ?? 0) + deployed.length);
  }
  return [...sizes].filter(([, size]) => size > 10_240).map(([role, size]) => `${role}: ${size}`);
};

const alarm = z.object({
  EvaluationPeriods: z.number(),
  Period: z.number().optional(),
  Metrics: z
    .array(
      z.object({
        Expression: z.string().default(""),
        ReturnData: z.boolean().default(true),
        MetricStat: z.object({ Period: z.number() }).optional(),
      }),
    )
    .default([]),
});

/**
 * CloudWatch refuses the alarm: `ValidationError: SEARCH is not supported on Metric Alarms`, `Exactly one element of the
 * metrics list should return data`, `Metrics cannot be checked across more than a day`, and likewise more than ten
 * metrics or a period that is no multiple of a minute.
 */
const alarmsCanBeEvaluated: Rule = (template) =>
  resourcesOf("AWS::CloudWatch::Alarm", alarm, template).flatMap(({ logicalId, properties }) => {
    const { EvaluationPeriods, Period, Metrics } = properties;
    const periods = [Period ?? [], ...Metrics.map(({ MetricStat }) => MetricStat?.Period ?? [])].flat();
    const faults = {
      "more than ten metrics": Metrics.length > 10,
      "a search": Metrics.some(({ Expression }) => Expression.includes("SEARCH")),
      "not one result": Metrics.length > 0 && Metrics.filter(({ ReturnData }) => ReturnData).length !== 1,
      "no whole minutes": periods.some((period) => period % 60 !== 0),
      "more than a day": periods.some((period) => period * EvaluationPeriods > 86_400),
    };
    return Object.entries(faults).flatMap(([fault, isThere]) => (isThere ? [`${logicalId}: ${fault}`] : []));
  });

const table = z.object({
  GlobalSecondaryIndexes: z
    .array(z.object({ Projection: z.object({ NonKeyAttributes: z.array(z.string()).default([]) }) }))
    .default([]),
});

/**
 * DynamoDB refuses the table with a `ValidationException`, counting the projected attributes of all its indexes
 * together: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
 */
const indexesProjectFewAttributes: Rule = (template) =>
  resourcesOf("AWS::DynamoDB::GlobalTable", table, template)
    .filter(({ properties: { GlobalSecondaryIndexes: indexes } }) => {
      const projected = indexes.flatMap(({ Projection }) => Projection.NonKeyAttributes);
      return projected.length > 100;
    })
    .map(({ logicalId }) => logicalId);

const stage = z.object({ MethodSettings: z.array(z.record(z.string(), z.unknown())).default([]) });

/** API Gateway refuses the update of the stage: `BadRequestException: Update size too large`. */
const stageTakesOneUpdate: Rule = (template) =>
  resourcesOf("AWS::ApiGateway::Stage", stage, template).flatMap(({ logicalId, properties }) => {
    // Each setting names its method, and changes the rest.
    const changes = properties.MethodSettings.flatMap(({ HttpMethod: _, ResourcePath: __, ...changed }) =>
      Object.keys(changed),
    );
    return changes.length > maxMethodChanges ? [`${logicalId}: ${changes.length}`] : [];
  });

const group = z.object({
  ServiceRoleArn: z.unknown(),
  AlarmConfiguration: z.object({ Alarms: z.array(z.unknown()).default([]) }).optional(),
});

/**
 * CodeDeploy fails deployments (`the number of requests by the IAM role … exceeded the request limit for AWSLambda`), and
 * refuses a group with more alarms: https://docs.aws.amazon.com/codedeploy/latest/userguide/limits.html
 */
const groupsAreWithinLimits: Rule = (template) => {
  const groups = resourcesOf("AWS::CodeDeploy::DeploymentGroup", group, template);
  const roles = groups.map(({ properties }) => JSON.stringify(properties.ServiceRoleArn));
  const crowded = [...new Set(roles)].filter(
    (role) => roles.filter((one) => one === role).length > maxGroupsOfRole,
  );
  const loud = groups.filter(({ properties }) => (properties.AlarmConfiguration?.Alarms.length ?? 0) > 50);
  return [...crowded, ...loud.map(({ logicalId }) => logicalId)];
};

/** Every rule, by what holds of a template that keeps it. */
export const rules = {
  "texts and numbers within the limits of their services": valuesAreWithinLimits,
  "policies of a role within 10,240 characters": policiesOfARoleFit,
  "alarms that CloudWatch can evaluate": alarmsCanBeEvaluated,
  "indexes that project at most 100 attributes": indexesProjectFewAttributes,
  "at most 76 changes in one update of the stage": stageTakesOneUpdate,
  "at most four deployment groups of a role, and 50 alarms of a group": groupsAreWithinLimits,
} as const satisfies Readonly<Record<string, Rule>>;
