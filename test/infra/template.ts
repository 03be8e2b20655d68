import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { protocolEndpoints, type TableName } from "../../functions/areas.ts";
import { constructIdOf, functionIds } from "../../infra/bundles.ts";
import type { FunctionId } from "../../infra/functions.ts";
import { localSettings } from "../../infra/settings.ts";
import { dataStackName, monitoringStackName, stackName, stackNames } from "../../infra/stack-names.ts";
import type { Stage } from "../../infra/stage.ts";
import { type QueueName, queueVariable } from "../../shared/sqs/queues.ts";
import { tableVariable } from "../../shared/table.ts";
import { policiesOf, type Statement } from "../../tools/cli/grants.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { sharedTemplates } from "../support/service.ts";
import { type Notes, notesFile, notesSchema, type SharedName } from "./shared-templates.ts";

/** A statistic of a metric, as an alarm or an expression of one names it. */
export const metricStatistic = z.object({
  Metric: z.object({
    Namespace: z.string(),
    MetricName: z.string(),
    Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })).default([]),
  }),
  Period: z.number(),
  Stat: z.string(),
});

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DependsOn: z.union([z.string().transform((id) => [id]), z.array(z.string())]).default([]),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
  UpdatePolicy: z.unknown().optional(),
});

const document = z.object({
  Parameters: z.record(z.string(), z.unknown()).default({}),
  Resources: z.record(z.string(), resource),
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.string() }).optional() }))
    .default({}),
});

/**
 * The templates of a stage as CloudFormation gets them, as one: names are logical ids, values may be intrinsic
 * functions.
 */
export type Template = z.output<typeof document>;

const templatesFolder = await sharedTemplates();

/** The folder of a synthesis: all were made at once. */
export function sharedFolder(name: SharedName): string {
  return join(templatesFolder, name);
}

/**
 * The templates as they are written: of the tables, of the alarms of the whole service, of everything else, and of the
 * alarms that are nested in that.
 */
interface Written {
  readonly data: string;
  readonly service: string;
  readonly alarms: string;
  readonly monitoring: string;
}

/** The templates of a synthesis, as they are written. */
export function sharedText(name: SharedName): Written {
  return readText(sharedFolder(name));
}

/** The templates of a synthesis. */
export function sharedTemplate(name: SharedName): Template {
  return parse(sharedText(name));
}

/** What was written down with the templates. */
export function readNotes(): Notes {
  return notesSchema.parse(JSON.parse(readFileSync(join(templatesFolder, notesFile), "utf8")));
}

function readText(assembly: string): Written {
  const text = (name: string) => readFileSync(join(assembly, `${name}.template.json`), "utf8");
  const nested = readdirSync(assembly).filter((file) => file.endsWith(".nested.template.json"));
  return {
    data: text(dataStackName),
    service: text(stackName),
    alarms: readFileSync(join(assembly, only(nested, "nested templates")), "utf8"),
    monitoring: text(monitoringStackName),
  };
}

/** One template of an assembly. */
export function parseOne(text: string): Template {
  return document.parse(JSON.parse(text));
}

/** What the stack of the tables exports stands where the other one imports it. */
function parse(written: Written): Template {
  const data = parseOne(written.data);
  const exported = new Map(Object.values(data.Outputs).map(({ Export, Value }) => [Export?.Name, Value]));
  const imported = JSON.parse(written.service, (_, value) =>
    typeof value?.["Fn::ImportValue"] === "string" ? exported.get(value["Fn::ImportValue"]) : value,
  );
  const service = withNested(document.parse(imported), "Alarms", written.alarms);
  const monitoring = parseOne(written.monitoring);
  return {
    Parameters: { ...data.Parameters, ...service.Parameters, ...monitoring.Parameters },
    Resources: { ...data.Resources, ...service.Resources, ...monitoring.Resources },
    Outputs: service.Outputs,
  };
}

/**
 * A template with the resources of a nested stack instead of that stack, and values instead of its parameters and outputs:
 * what depends on it depends on all of them.
 */
function withNested(parent: Template, logicalId: string, text: string): Template {
  const { [logicalId]: stack, ...others } = parent.Resources;
  const { Parameters } = z.object({ Parameters: z.record(z.string(), z.unknown()) }).parse(stack?.Properties);
  const nested = document.parse(
    JSON.parse(text, (_, value) => (value?.Ref in Parameters ? Parameters[value.Ref] : value)),
  );
  const outputs = new Map(
    Object.entries(nested.Outputs).map(([name, { Value }]) => [`Outputs.${name}`, Value]),
  );
  const resources = JSON.stringify(others, (name, value) => {
    if (value?.["Fn::GetAtt"]?.[0] === logicalId) return outputs.get(value["Fn::GetAtt"][1]);
    if (name !== "DependsOn" || !value.includes(logicalId)) return value;
    return [...value, ...Object.keys(nested.Resources)];
  });
  return {
    ...parent,
    Resources: { ...document.shape.Resources.parse(JSON.parse(resources)), ...nested.Resources },
  };
}

/** The templates as they are written: of the local run's settings in dev, of prod without any, and with every setting. */
export const texts = {
  dev: sharedText("localDev"),
  prod: sharedText("deployed"),
  configured: sharedText("configured"),
} as const;

/** The template of the stage for trying out, with the settings of a local run. */
export const template = parse(texts.dev);

/** The template that is deployed when no stage is named. */
export const deployed = parse(texts.prod);

/** The template that is deployed with every setting. */
export const configured = parse(texts.configured);

/** The template of each stage, without any setting. */
const templates: Readonly<Record<Stage, Template>> = { dev: template, prod: deployed };

/** Every stage with its template, for `describe.each`. */
export const eachStage = Object.entries(templates) as (readonly [stage: Stage, template: Template])[];

/** The settings of the template of each stage. */
export const settingsByStage = {
  dev: settingsOf({ stage: "dev", ...localSettings }),
  prod: settingsOf({ stage: "prod" }),
} as const satisfies Readonly<Record<Stage, unknown>>;

const protocolIds: readonly string[] = protocolEndpoints.map(({ id }) => id);

/** The functions of each stage without any setting. The template of dev is that of a local run, where clients get tokens. */
export const functionIdsOf = {
  dev: functionIds,
  prod: functionIds.filter((id) => !protocolIds.includes(id)),
} as const satisfies Readonly<Record<Stage, unknown>>;

/** A resource with its properties parsed. */
interface Found<Properties> {
  readonly logicalId: string;
  readonly properties: Properties;
  readonly dependsOn: readonly string[];
  readonly deletionPolicy: string | undefined;
  readonly updateReplacePolicy: string | undefined;
}

/** Every resource of a type. */
export function resourcesOf<Schema extends z.ZodType>(
  type: string,
  schema: Schema,
  { Resources }: Template = template,
): Found<z.output<Schema>>[] {
  return Object.entries(Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([logicalId, { Properties, DependsOn, DeletionPolicy, UpdateReplacePolicy }]) => ({
      logicalId,
      properties: schema.parse(Properties),
      dependsOn: DependsOn,
      deletionPolicy: DeletionPolicy,
      updateReplacePolicy: UpdateReplacePolicy,
    }));
}

/** The only element of a list. */
export function only<Element>(elements: readonly Element[], what: string): Element {
  const [element] = elements;
  if (element === undefined || elements.length > 1) throw new Error(`${elements.length} of ${what}, not one`);
  return element;
}

/** The resource of a construct directly below the stack: CDK appends eight digits to the construct's name. */
function logicalIdOf(type: string, construct: string): string {
  const pattern = new RegExp(`^${construct}[0-9A-F]{8}$`);
  const found = Object.entries(template.Resources).filter(
    ([logicalId, { Type }]) => Type === type && pattern.test(logicalId),
  );
  return only(found, `${type} ${construct}`)[0];
}

/** The logical id of a function, the same in every stage. */
export function functionOf(id: FunctionId): string {
  return logicalIdOf("AWS::Lambda::Function", constructIdOf(id));
}

/** The logical id of a table. */
export function tableOf(name: TableName): string {
  return logicalIdOf("AWS::DynamoDB::GlobalTable", tableVariable({ name }).replaceAll("_", ""));
}

/** The deployed name of a table that the operator has not named. */
export function tableNameOf(name: TableName, stage: Stage): string {
  return `${stackNames[stage]}-${name}`;
}

/** The logical id of a queue. */
export function queueOf(name: QueueName): string {
  return logicalIdOf("AWS::SQS::Queue", queueVariable(name).replaceAll("_", ""));
}

/** What the policies of a role say. */
export function statementsOf(role: string, from: Template): Statement[] {
  return policiesOf(from)
    .filter((policy) => policy.role === role)
    .flatMap(({ statements }) => statements);
}

/** `{"Ref": …}`. */
export const reference = z.strictObject({ Ref: z.string() });

/** `{"Fn::GetAtt": [resource, attribute]}`. */
export const attribute = z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) });

/** The ARN of a resource as the template writes it. */
export function arnOf(logicalId: string): z.output<typeof attribute> {
  return { "Fn::GetAtt": [logicalId, "Arn"] };
}

const joinedText = z.strictObject({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) });

/** A joined text in one line, with `${LogicalId}` and `${LogicalId.Attribute}` for what is known when deployed. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const referred = reference.safeParse(value);
  if (referred.success) return `\${${referred.data.Ref}}`;
  const got = attribute.safeParse(value);
  if (got.success) return `\${${got.data["Fn::GetAtt"].join(".")}}`;
  const joined = joinedText.safeParse(value);
  if (joined.success) return joined.data["Fn::Join"][1].map(textOf).join("");
  return JSON.stringify(value);
}

const part = z.object({ ParentId: z.unknown(), PathPart: z.string() });

/** The path of a resource of the API, which `{"Ref": …}` names; any other value is its root. */
export function pathOf(id: unknown, from: Template): string {
  const parts: string[] = [];
  for (let next = id; ; ) {
    const found = from.Resources[reference.safeParse(next).data?.Ref ?? ""];
    if (found === undefined) return `/${parts.join("/")}`;
    const { ParentId, PathPart } = part.parse(found.Properties);
    parts.unshift(PathPart);
    next = ParentId;
  }
}
