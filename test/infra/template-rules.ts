/**
 * What CloudFormation or a service refuses only while a stack is deployed, and the schemas of resources do not say:
 * rules as those of cfn-lint (https://github.com/aws-cloudformation/cfn-lint/blob/main/docs/rules.md), named by its
 * numbers.
 */
import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as lambda from "@aws-sdk/client-lambda";
import * as s3 from "@aws-sdk/client-s3";
import * as secretsmanager from "@aws-sdk/client-secrets-manager";
import * as states from "@aws-sdk/client-sfn";
import * as sqs from "@aws-sdk/client-sqs";
import * as z from "zod";

const resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});

/** A template as it is written. */
export const writtenTemplate = z.looseObject({
  Parameters: z.record(z.string(), z.unknown()).default({}),
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.looseObject({ Value: z.unknown() })).default({}),
});

type Written = z.output<typeof writtenTemplate>;
type Rule = (template: Written) => string[];

/** A value inside another, and the names that lead to it. */
interface Inner<Value> {
  readonly path: readonly string[];
  readonly value: Value;
}

/** The values inside another that are wanted. `isWanted` must not keep its path, which changes afterwards. */
function valuesIn<Value>(
  outer: unknown,
  isWanted: (value: unknown, path: readonly string[]) => value is Value,
): Inner<Value>[] {
  const found: Inner<Value>[] = [];
  const path: string[] = [];
  const look = (value: unknown) => {
    if (isWanted(value, path)) found.push({ path: [...path], value });
    if (typeof value !== "object" || value === null) return;
    for (const [name, one] of Object.entries(value)) {
      path.push(name);
      look(one);
      path.pop();
    }
  };
  look(outer);
  return found;
}

/** Whether a value grants or refuses actions. */
const hasActions = (value: unknown): value is { readonly Effect: unknown; readonly Action: unknown } =>
  typeof value === "object" && value !== null && "Effect" in value && "Action" in value;

/** Whether a value is one of the statements of a policy. */
const isStatement = (value: unknown, path: readonly string[]): value is object =>
  path.at(-2) === "Statement" &&
  /^\d+$/.test(path.at(-1) ?? "") &&
  typeof value === "object" &&
  value !== null;

function resourcesOf<Schema extends z.ZodType>({ Resources }: Written, type: string, schema: Schema) {
  return Object.entries(Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties }]) => ({ id, properties: schema.parse(Properties) }));
}

const referred = z.strictObject({ Ref: z.string() });

/** Strings by type and property: the longest that are taken. Numbers: the least and the greatest. */
const limits: Readonly<Record<string, Readonly<Record<string, number | readonly [number, number]>>>> = {
  "AWS::ApiGateway::Authorizer": { AuthorizerResultTtlInSeconds: [0, 3_600], Name: 128 },
  "AWS::ApiGateway::RestApi": { Description: 1_024, MinimumCompressionSize: [0, 10_485_760] },
  "AWS::CloudWatch::Alarm": { AlarmDescription: 1_024, AlarmName: 255, Period: [10, 86_400] },
  "AWS::CloudWatch::CompositeAlarm": { AlarmDescription: 1_024, AlarmName: 255 },
  "AWS::DynamoDB::Table": { TableName: 255 },
  "AWS::KMS::Key": { Description: 8_192 },
  "AWS::Lambda::EventSourceMapping": { BatchSize: [1, 10_000] },
  "AWS::Lambda::Function": { Description: 256, Handler: 128, MemorySize: [128, 10_240], Timeout: [1, 900] },
  "AWS::Logs::MetricFilter": { FilterPattern: 1_024 },
  "AWS::SecretsManager::Secret": { Description: 2_048 },
  "AWS::SQS::Queue": {
    KmsDataKeyReusePeriodSeconds: [60, 86_400],
    MessageRetentionPeriod: [60, 1_209_600],
    VisibilityTimeout: [0, 43_200],
  },
  "AWS::StepFunctions::StateMachine": { StateMachineName: 80 },
  "AWS::WAFv2::WebACL": { Description: 256 },
};

/** The commands of the services whose clients are here, by the prefix of their actions. */
const clients: Readonly<Record<string, object>> = { dynamodb, lambda, s3, secretsmanager, sqs, states };

/**
 * Actions that are no commands of a client here.
 * https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
 */
const otherActions = [
  "cloudwatch:DescribeAlarms",
  ...[
    "CreateGrant",
    "Decrypt",
    "DescribeKey",
    "Encrypt",
    "GenerateDataKey",
    "ReEncryptFrom",
    "ReEncryptTo",
  ].map((action) => `kms:${action}`),
  "lambda:InvokeFunction",
  ...[
    "CreateLogStream",
    "PutLogEvents",
    "DescribeLogGroups",
    "DescribeResourcePolicies",
    "PutResourcePolicy",
  ].map((action) => `logs:${action}`),
  ...["Create", "Delete", "Get", "Update"].map((verb) => `logs:${verb}LogDelivery`),
  "logs:ListLogDeliveries",
  "s3:ListBucket",
  "sts:AssumeRole",
  ...["GetSamplingRules", "GetSamplingTargets", "PutTelemetryRecords", "PutTraceSegments"].map(
    (action) => `xray:${action}`,
  ),
];

/** Names that Lambda keeps for itself: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html */
const reservedVariables = [
  "_HANDLER|_X_AMZN_TRACE_ID|LAMBDA_(?:TASK_ROOT|RUNTIME_DIR)",
  String.raw`AWS_(?:DEFAULT_REGION|REGION|EXECUTION_ENV|LAMBDA_\w+|ACCESS_KEY(?:_ID)?|SECRET_ACCESS_KEY|SESSION_TOKEN)`,
];
const reservedVariable = new RegExp(`^(?:${reservedVariables.join("|")})$`);

/** What is only known when deployed is at most this long in a policy: the ARN of a function. */
const unknownCharacters = 130;

const alarm = z.looseObject({
  EvaluationPeriods: z.number(),
  Period: z.number().optional(),
  Metrics: z
    .array(
      z.looseObject({
        Id: z.string(),
        Expression: z.string().optional(),
        ReturnData: z.boolean().optional(),
        MetricStat: z.looseObject({ Period: z.number() }).optional(),
      }),
    )
    .optional(),
});

const tableProperties = z.looseObject({
  AttributeDefinitions: z.array(z.looseObject({ AttributeName: z.string() })),
  KeySchema: z.array(z.looseObject({ AttributeName: z.string() })),
  BillingMode: z.string(),
  GlobalSecondaryIndexes: z
    .array(
      z.looseObject({
        KeySchema: z.array(z.looseObject({ AttributeName: z.string() })),
        Projection: z.looseObject({ NonKeyAttributes: z.array(z.string()).default([]) }),
      }),
    )
    .default([]),
});

/** A statement of a policy that has all it needs. */
const completeStatement = z
  .looseObject({
    Effect: z.enum(["Allow", "Deny"]),
    Action: z.union([z.string(), z.array(z.string()).min(1)]),
  })
  .refine((statement) => "Resource" in statement || "Principal" in statement);

/** Whether a value is `{"Ref": …}` or `{"Fn::GetAtt": …}`. */
function isKnownWhenDeployed(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const [name, ...others] = Object.keys(value);
  return others.length === 0 && (name === "Ref" || name === "Fn::GetAtt");
}

/** Every rule, by what holds. */
export const rules = {
  "every parameter is used (W2001), under a name of its own (E3007)": ({ Parameters, ...others }) => {
    const referredNames = valuesIn(
      others,
      (value, path): value is string => path.at(-1) === "Ref" && typeof value === "string",
    );
    const names = new Set(referredNames.map(({ value }) => value));
    return Object.keys(Parameters).flatMap((name) => [
      ...(names.has(name) ? [] : [`${name} is not used`]),
      ...(name in others.Resources ? [`${name} is a resource too`] : []),
    ]);
  },

  "outputs have names of letters and digits (E6004), and texts as values (E6101)": ({ Outputs }) =>
    Object.entries(Outputs).flatMap(([name, { Value }]) => [
      ...(/^[A-Za-z0-9]{1,255}$/.test(name) ? [] : [`${name} is no name of an output`]),
      ...(typeof Value === "string" || !Array.isArray(Value) ? [] : [`${name} is no text`]),
    ]),

  "a text with a variable is substituted (E1029), and no other is (W1020)": (template) =>
    valuesIn(
      template,
      (value, path): value is string =>
        typeof value === "string" && path.includes("Fn::Sub") !== /\$\{[A-Z]/.test(value),
    ).map(({ path }) => path.join(".")),

  "what is replaced and what is deleted are both kept, or neither (W3011)": ({ Resources }) =>
    Object.entries(Resources)
      .filter(([, one]) => (one.DeletionPolicy === undefined) !== (one.UpdateReplacePolicy === undefined))
      .map(([id]) => id),

  "texts are short enough (E3033), and numbers in range (E3034)": ({ Resources }) =>
    Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
      Object.entries(limits[Type] ?? {}).flatMap(([name, limit]) => {
        const value = Properties[name];
        if (typeof limit === "number")
          return typeof value === "string" && value.length > limit ? [`${id}.${name} is too long`] : [];
        const [min, max] = limit;
        return typeof value === "number" && (value < min || value > max) ? [`${id}.${name} is ${value}`] : [];
      }),
    ),

  "actions of policies exist (W3037)": (template) =>
    valuesIn(template, hasActions).flatMap(({ path, value }) => {
      return [value.Action]
        .flat()
        .map(String)
        .filter((action) => {
          const [service = "", name = ""] = action.split(":");
          return (
            name !== "*" && !otherActions.includes(action) && !(`${name}Command` in (clients[service] ?? {}))
          );
        })
        .map((action) => `${path.join(".")}: ${action}`);
    }),

  "statements of policies have an effect, actions, and whom or what they are for (E3510)": (template) =>
    valuesIn(template, isStatement)
      .filter(({ value }) => !completeStatement.safeParse(value).success)
      .map(({ path }) => path.join(".")),

  "the policies of a role have at most 10,240 characters": (template) => {
    const schema = z.looseObject({ PolicyDocument: z.unknown(), Roles: z.array(referred) });
    const sizes = new Map<string, number>();
    for (const { properties } of resourcesOf(template, "AWS::IAM::Policy", schema)) {
      const deployed = JSON.stringify(properties.PolicyDocument, (_, value) =>
        isKnownWhenDeployed(value) ? "x".repeat(unknownCharacters) : value,
      );
      for (const { Ref } of properties.Roles) sizes.set(Ref, (sizes.get(Ref) ?? 0) + deployed.length);
    }
    return [...sizes].filter(([, size]) => size > 10_240).map(([role, size]) => `${role}: ${size}`);
  },

  "names of variables can be had (E3663)": (template) => {
    const variables = z.looseObject({ Variables: z.record(z.string(), z.unknown()) });
    const schema = z.looseObject({ Environment: variables.optional() });
    return resourcesOf(template, "AWS::Lambda::Function", schema).flatMap(({ id, properties }) =>
      Object.keys(properties.Environment?.Variables ?? {})
        .filter((name) => !/^[A-Za-z]\w+$/.test(name) || reservedVariable.test(name))
        .map((name) => `${id}: ${name}`),
    );
  },

  "alarms look at ten metrics at most, by names in lower case, without a search, over a day at most": (
    template,
  ) =>
    resourcesOf(template, "AWS::CloudWatch::Alarm", alarm).flatMap(({ id, properties }) => {
      const { EvaluationPeriods, Period, Metrics = [] } = properties;
      const periods = [Period ?? [], ...Metrics.map(({ MetricStat }) => MetricStat?.Period ?? [])].flat();
      const wrong = [
        Metrics.length > 10,
        Metrics.some((one) => !/^[a-z]\w*$/.test(one.Id)),
        Metrics.some(({ Expression = "" }) => Expression.includes("SEARCH")),
        Metrics.length > 0 && Metrics.filter(({ ReturnData = true }) => ReturnData).length !== 1,
        periods.some((period) => period % 60 !== 0 || period * EvaluationPeriods > 86_400),
      ];
      return wrong.includes(true) ? [id] : [];
    }),

  "methods, authorizers and stages are of one API (E3698, E3699), and a method asks its authorizer (E3708)": (
    template,
  ) => {
    const ofApi = z.looseObject({ RestApiId: referred, AuthorizationType: z.string().optional() });
    const kinds = ["Authorizer", "Deployment", "GatewayResponse", "Method", "Resource", "Stage"];
    const all = kinds.flatMap((kind) => resourcesOf(template, `AWS::ApiGateway::${kind}`, ofApi));
    const apis = new Set(all.map(({ properties }) => properties.RestApiId.Ref));
    const silent = all.filter(
      ({ properties }) => (properties.AuthorizationType === "CUSTOM") !== "AuthorizerId" in properties,
    );
    return [...(apis.size > 1 ? [`${apis.size} APIs`] : []), ...silent.map(({ id }) => id)];
  },

  "schedules are rates or cron expressions (E3027)": (template) =>
    resourcesOf(template, "AWS::Events::Rule", z.looseObject({ ScheduleExpression: z.string().optional() }))
      .filter(({ properties: { ScheduleExpression = "rate(1 minute)" } }) => {
        const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(ScheduleExpression) ?? [];
        const isRate = ScheduleExpression === `rate(${count} ${unit}${count === "1" ? "" : "s"})`;
        return !isRate && !/^cron\((?:\S+ ){5}\S+\)$/.test(ScheduleExpression);
      })
      .map(({ id }) => id),

  "tables define the attributes of their keys and no others (E3039), and indexes project few": (template) =>
    resourcesOf(template, "AWS::DynamoDB::Table", tableProperties)
      .filter(({ properties: { AttributeDefinitions, KeySchema, BillingMode, ...table } }) => {
        const { GlobalSecondaryIndexes: indexes } = table;
        const keys = [KeySchema, ...indexes.map((index) => index.KeySchema)].flat();
        const named = (attributes: readonly { readonly AttributeName: string }[]) =>
          [...new Set(attributes.map(({ AttributeName }) => AttributeName))].sort().join();
        const projected = indexes.flatMap(({ Projection }) => Projection.NonKeyAttributes);
        const isPaidTwice = BillingMode === "PAY_PER_REQUEST" && "ProvisionedThroughput" in table;
        return named(AttributeDefinitions) !== named(keys) || projected.length > 100 || isPaidTwice;
      })
      .map(({ id }) => id),
} as const satisfies Readonly<Record<string, Rule>>;
