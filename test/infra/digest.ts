import * as z from "zod";
import { policiesOf } from "../../tools/cli/grants.ts";
import { metricStatistic, pathOf, type Template, textOf } from "./template.ts";

type Properties = Template["Resources"][string]["Properties"];

const alarmsOf = z.object({ Alarms: z.array(z.unknown()).default([]) });

const environment = z.object({ Variables: z.record(z.string(), z.unknown()) });

const metric = z.object({
  Expression: z.string().optional(),
  Id: z.string(),
  MetricStat: metricStatistic.optional(),
});

/** What a person reviews of a resource, by its type; a resource of another type is left out. */
const reviewed: Readonly<Record<string, (properties: Properties) => string>> = {
  "AWS::Lambda::Function": ({ Description, Code: _, Environment, Role: __, ...properties }) =>
    `${text(Description)}: ${members(properties)}; ${members(environment.parse(Environment).Variables)}`,
  "AWS::CloudWatch::Alarm": ({ Metrics, AlarmDescription: _, ...properties }) =>
    `${Metrics === undefined ? "" : `${metricsIn(Metrics)}; `}${members(properties)}`,
  "AWS::CloudWatch::CompositeAlarm": ({ AlarmDescription: _, ...properties }) => members(properties),
  "AWS::DynamoDB::GlobalTable": ({ AttributeDefinitions: _, ...properties }) => members(properties),
  "AWS::ApiGateway::Account": members,
  "AWS::ApiGateway::RestApi": ({ Description: _, ...properties }) => members(properties),
  "AWS::ApiGateway::Authorizer": members,
  "AWS::ApiGateway::BasePathMapping": members,
  "AWS::ApiGateway::DomainName": members,
  "AWS::ApiGateway::Stage": ({ MethodSettings, ...properties }) =>
    `${members(properties)}, MethodSettings: ${settingsIn(MethodSettings)}`,
  "AWS::CodeDeploy::DeploymentGroup": ({ AlarmConfiguration, ...properties }) =>
    `${members(properties)}; ${alarmsOf.parse(AlarmConfiguration).Alarms.length} alarms`,
  "AWS::Events::Rule": members,
  "AWS::IAM::Role": ({ AssumeRolePolicyDocument, ManagedPolicyArns }) =>
    `assumed by ${text(AssumeRolePolicyDocument)}, managed policies: ${text(ManagedPolicyArns ?? "none")}`,
  "AWS::KMS::Key": members,
  "AWS::Lambda::Alias": members,
  "AWS::Lambda::EventInvokeConfig": members,
  "AWS::Lambda::EventSourceMapping": members,
  "AWS::Lambda::Permission": members,
  "AWS::Logs::LogGroup": members,
  "AWS::Logs::MetricFilter": members,
  "AWS::Route53::RecordSet": members,
  "AWS::SQS::Queue": members,
  "AWS::SQS::QueuePolicy": members,
  "AWS::SecretsManager::RotationSchedule": members,
  "AWS::SecretsManager::Secret": members,
  "AWS::WAFv2::LoggingConfiguration": members,
  "AWS::WAFv2::WebACL": members,
  "AWS::WAFv2::WebACLAssociation": members,
  "Custom::ReleaseCheck": members,
};

/** `name: value, …` of every property that is set, without tags. */
function members({ Tags: _, ...properties }: Readonly<Record<string, unknown>>): string {
  return Object.entries(properties)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${text(value)}`)
    .sort()
    .join(", ");
}

const methodSettings = z.array(
  z.strictObject({
    HttpMethod: z.string(),
    ResourcePath: z.string(),
    ThrottlingBurstLimit: z.number(),
    ThrottlingRateLimit: z.number(),
  }),
);

/** `/path GET 10/5, …`: requests a second and at once that a stage lets through to a method. */
function settingsIn(value: unknown): string {
  return methodSettings
    .parse(value)
    .map(
      ({ HttpMethod, ResourcePath, ThrottlingBurstLimit: burst, ThrottlingRateLimit: rate }) =>
        `${ResourcePath.replaceAll("~1", "/")} ${HttpMethod} ${rate}/${burst}`,
    )
    .join(", ");
}

function metricsIn(value: unknown): string {
  return z
    .array(metric)
    .parse(value)
    .map(({ Expression, Id, MetricStat }) => {
      if (MetricStat === undefined) return Expression;
      const { Metric, Period, Stat } = MetricStat;
      const of = Metric.Dimensions.map(({ Name, Value }) => `${Name}=${text(Value)}`).join(" ");
      return `${Id} = ${Stat} of ${Metric.Namespace} ${Metric.MetricName} (${of}) in ${Period} s`;
    })
    .join("; ");
}

/** A value in one line, in which references stand as `${LogicalId}`. */
function text(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const short = textOf(value);
  if (!short.startsWith("{") && !short.startsWith("[")) return short;
  return Array.isArray(value) ? `[${value.map(text).join(" ")}]` : `{${members({ ...value })}}`;
}

const method = z.object({
  HttpMethod: z.string(),
  ResourceId: z.unknown(),
  AuthorizerId: z.unknown().optional(),
  Integration: z.object({ Uri: z.unknown().optional(), ResponseTransferMode: z.string().optional() }),
});
/** `/path GET: what answers, by which authorizer`; other verbs of a path are answered by a mock. */
function routesIn(from: Template): string[] {
  return Object.values(from.Resources)
    .filter(({ Type }) => Type === "AWS::ApiGateway::Method")
    .map(({ Properties }) => method.parse(Properties))
    .filter(({ HttpMethod }) => HttpMethod !== "ANY")
    .map(({ HttpMethod, ResourceId, AuthorizerId, Integration: { Uri, ResponseTransferMode } }) => {
      const [, called = ""] = /functions\/(.*)$/.exec(textOf(Uri)) ?? [];
      const by = AuthorizerId === undefined ? "no authorizer" : textOf(AuthorizerId);
      return `${pathOf(ResourceId, from)} ${HttpMethod}: ${called} ${ResponseTransferMode}, ${by}`;
    })
    .sort();
}

/** `role: actions on a resource, if condition`. */
function rightsIn(from: Template): string[] {
  return policiesOf(from)
    .flatMap(({ role, statements }) =>
      statements.map(({ Action, Resource, Condition }) => {
        const condition = Condition === undefined ? "" : `, if ${text(Condition)}`;
        return `${role}: ${Action.join(" ")} on ${Resource.map(textOf).sort().join(" ")}${condition}`;
      }),
    )
    .sort();
}

/**
 * A template as a person reviews it, in a stable order: what decides what each resource does, every route and every
 * right. Names of versions and deployments, which change with every build, are shortened.
 */
export function digestOf(from: Template): string {
  const resources = Object.entries(from.Resources).flatMap(
    ([logicalId, { Type, Properties, DeletionPolicy }]) => {
      const review = reviewed[Type];
      if (review === undefined) return [];
      return `${Type.replace("AWS::", "")} ${logicalId}, ${DeletionPolicy ?? "Delete"}: ${review(Properties)}`;
    },
  );
  const all = [...resources.sort(), "", ...routesIn(from), "", ...rightsIn(from), ""].join("\n");
  return all.replaceAll(/((?:CurrentVersion|ApiDeployment)\w{8})\w{32}/g, "$1…");
}

/**
 * How a digest differs from an earlier one: lines that go and come, then what lines with the same beginning lose and gain,
 * once for all lines that change alike.
 */
export function digestChanges(before: Template, after: Template): string {
  const [old, made] = [membersByHead(before), membersByHead(after)];
  const headsByChange = new Map<string, string[]>();
  for (const [head, now] of made) {
    const earlier = old.get(head);
    if (earlier === undefined) continue;
    const lost = earlier.filter((member) => !now.includes(member)).map((member) => `- ${member}`);
    const gained = now.filter((member) => !earlier.includes(member)).map((member) => `+ ${member}`);
    const change = [...lost, ...gained].join(", ");
    if (change !== "") headsByChange.set(change, [...(headsByChange.get(change) ?? []), head]);
  }
  const removed = digestOf(before)
    .split("\n")
    .filter((line) => !made.has(headOf(line)));
  const added = digestOf(after)
    .split("\n")
    .filter((line) => !old.has(headOf(line)));
  return [
    ...removed.map((line) => `- ${line}`),
    ...added.map((line) => `+ ${line}`),
    ...[...headsByChange].map(([change, heads]) => `${heads.join(" | ")}\n    ${change}`),
    "",
  ].join("\n");
}

function headOf(line: string): string {
  // Rights of a role are several lines, which have nothing in common but the role.
  return /^[\w:]+ \w+, \w+(?=: )/.exec(line)?.[0] ?? line;
}

function membersByHead(from: Template): ReadonlyMap<string, readonly string[]> {
  return new Map(
    digestOf(from)
      .split("\n")
      .map((line) => [headOf(line), line.slice(headOf(line).length + 2).split(/[,;] /)]),
  );
}
