/** What a release is held to by the next one: kept for each version in `released/`, one JSON object a line. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { settingNames } from "../../infra/settings.ts";
import { dataFormat } from "../../shared/data-format.ts";
import { parseOne, sharedFolder, type Template, textOf } from "./template.ts";

const index = z.strictObject({ keys: z.array(z.string()), projection: z.array(z.string()) });

const resourceLine = z.strictObject({
  stack: z.string(),
  id: z.string(),
  type: z.string(),
  /** What nothing else of its type may be called at the same time. */
  name: z.string().optional(),
  deletion: z.string(),
  /** The names and types of a table's keys. */
  keys: z.array(z.string()).optional(),
  indexes: z.record(z.string(), index).optional(),
});

const versionLine = z.strictObject({ settings: z.array(z.string()), format: z.number() });

type Resource = z.output<typeof resourceLine>;

/** The resources of a version, its settings and the form of what it stores. */
export interface ReleaseDigest extends z.output<typeof versionLine> {
  readonly resources: readonly Resource[];
}

/** The properties that name a resource whose type does not say it: a queue is named by `QueueName`, or by `Name`. */
const naming: Readonly<Record<string, readonly string[]>> = {
  "AWS::ApiGateway::DomainName": ["DomainName"],
  "AWS::ApiGateway::Resource": ["ParentId", "PathPart"],
  "AWS::CloudWatch::CompositeAlarm": ["AlarmName"],
  "AWS::DynamoDB::GlobalTable": ["TableName"],
  "AWS::Lambda::Alias": ["FunctionName", "Name"],
  "AWS::Route53::RecordSet": ["Name", "Type"],
  // Renamed in place:
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-restapi.html
  "AWS::ApiGateway::Authorizer": [],
  "AWS::ApiGateway::RestApi": [],
};

/** What AWS gives to no second resource of a type, and CloudFormation changes only by replacing the resource. */
function nameOf(type: string, properties: Readonly<Record<string, unknown>>): string | undefined {
  const own = `${type.split("::").at(-1)}Name`;
  const values = (naming[type] ?? [own in properties ? own : "Name"]).map((name) => properties[name]);
  return values.length === 0 || values.includes(undefined) ? undefined : values.map(textOf).join(" ");
}

/** Made again with each build, under another logical id. */
const madeByBuild = ["AWS::ApiGateway::Deployment", "AWS::Lambda::Version"];

const keySchema = z.array(z.object({ AttributeName: z.string() }));

const tableProperties = z.object({
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.string() })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.string(),
          NonKeyAttributes: z.array(z.string()).default([]),
        }),
      }),
    )
    .default([]),
});

function tableMembers(properties: unknown): Pick<Resource, "keys" | "indexes"> {
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = tableProperties.parse(properties);
  const types = new Map(AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]));
  const keysIn = (schema: z.output<typeof keySchema>) =>
    schema.map(({ AttributeName }) => `${AttributeName} ${types.get(AttributeName)}`);
  const indexes = GlobalSecondaryIndexes.map(
    ({ IndexName, KeySchema: keys, Projection: { ProjectionType, NonKeyAttributes } }) =>
      [
        IndexName,
        { keys: keysIn(keys), projection: [ProjectionType, ...NonKeyAttributes.toSorted()] },
      ] satisfies [string, z.output<typeof index>],
  );
  return { keys: keysIn(KeySchema), indexes: Object.fromEntries(indexes) };
}

/** The digest of templates, by the names of their stacks. */
export function releaseDigestOf(
  stacks: Readonly<Record<string, Template>>,
  { settings = [...settingNames()].sort(), format = dataFormat } = {},
): ReleaseDigest {
  const resources = Object.entries(stacks).flatMap(([stack, { Resources }]) =>
    Object.entries(Resources)
      .filter(([, { Type }]) => !madeByBuild.includes(Type))
      .map(([id, { Type, Properties, DeletionPolicy: deletion = "Delete" }]) => {
        const name = nameOf(Type, Properties);
        return {
          stack,
          id,
          type: Type,
          ...(name === undefined ? {} : { name }),
          deletion,
          ...(isTable(Type) ? tableMembers(Properties) : {}),
        };
      }),
  );
  return { settings, format, resources };
}

function isTable(type: string): boolean {
  return /^AWS::DynamoDB::(?:Global)?Table$/.test(type);
}

/** The stacks of `prod` as they are today, by the names of their templates. */
export function stacksOfToday(): Readonly<Record<string, Template>> {
  const folder = sharedFolder("deployed");
  const files = readdirSync(folder).filter((file) => file.endsWith(".template.json"));
  return Object.fromEntries(
    files.map((file) => {
      const [stack = ""] = file.split(".");
      return [stack, parseOne(readFileSync(join(folder, file), "utf8"))];
    }),
  );
}

/** The text of a digest, as it is kept. */
export function digestText({ resources, ...version }: ReleaseDigest): string {
  return `${[version, ...resources].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** The digest in a kept text. */
export function digestIn(text: string): ReleaseDigest {
  const [version, ...resources] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { ...versionLine.parse(version), resources: z.array(resourceLine).parse(resources) };
}

/** What keeps CloudFormation from updating the stacks of one release to those of the next, or loses data by it. */
export function upgradeFaults(before: ReleaseDigest, after: ReleaseDigest): string[] {
  const placeOf = ({ stack, id }: Resource) => `${stack}/${id}`;
  const next = new Map(after.resources.map((resource) => [placeOf(resource), resource]));
  const named = new Map(after.resources.map((resource) => [`${resource.type} ${resource.name}`, resource]));
  const ofResources = before.resources.flatMap((old) => {
    const place = placeOf(old);
    const made = next.get(place);
    if (made !== undefined) return changesOf(old, made).map((change) => `${place}: ${change}`);
    const other = old.name === undefined ? undefined : named.get(`${old.type} ${old.name}`);
    if (other !== undefined) return [`${place}: ${old.name} is made again as ${placeOf(other)}`];
    return isTable(old.type) ? [`${place}: the table is gone`] : [];
  });
  const lost = before.settings.filter((name) => !after.settings.includes(name));
  const formats = after.format - before.format;
  return [
    ...ofResources,
    ...lost.map((name) => `the setting ${name} is gone`),
    ...(formats === 0 || formats === 1 ? [] : [`the format is ${after.format} after ${before.format}`]),
  ];
}

/** What a resource is called whose name CloudFormation makes. */
const generated = "a generated name";

function changesOf(old: Resource, made: Resource): string[] {
  if (old.type !== made.type) return [`the type ${old.type} becomes ${made.type}`];
  return [
    ...(old.name === made.name ? [] : [`${old.name ?? generated} becomes ${made.name ?? generated}`]),
    ...(old.deletion !== "Delete" && made.deletion === "Delete" ? ["it is no longer retained"] : []),
    ...(isTable(old.type) ? changesOfTable(old, made) : []),
  ];
}

function changesOfTable(old: Resource, made: Resource): string[] {
  const [indexes, nextIndexes] = [old.indexes ?? {}, made.indexes ?? {}];
  const kept = Object.entries(indexes).flatMap(([name, earlier]) => {
    const later = nextIndexes[name];
    return later === undefined ? [] : [[name, earlier, later] as const];
  });
  const madeOrDeleted = [
    ...Object.keys(indexes).filter((name) => !(name in nextIndexes)),
    ...Object.keys(nextIndexes).filter((name) => !(name in indexes)),
  ];
  return [
    ...(isEqual(old.keys, made.keys) ? [] : [`the keys ${old.keys?.join()} become ${made.keys?.join()}`]),
    ...kept.flatMap(([name, earlier, later]) => [
      ...(isEqual(earlier.keys, later.keys) ? [] : [`the index ${name} has other keys`]),
      ...(isEqual(earlier.projection, later.projection) ? [] : [`the index ${name} has another projection`]),
    ]),
    ...(madeOrDeleted.length > 1
      ? [`more than one index is made or deleted: ${madeOrDeleted.join(", ")}`]
      : []),
  ];
}

function isEqual(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one?.join() === other?.join();
}
