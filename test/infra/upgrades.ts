/** What a release is held to by the next one, kept for each version in `released/`. */
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { fullDiff, type ResourceDifference, ResourceImpact } from "@aws-cdk/cloudformation-diff";
import * as z from "zod";
import { settingNames } from "../../infra/settings.ts";
import { dataFormat } from "../../shared/data-format.ts";
import { parseOne, sharedText, type Template } from "./template.ts";

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()),
  DeletionPolicy: z.string().optional(),
});

const release = z.object({
  settings: z.array(z.string()),
  /** The form of what it stores. */
  format: z.number(),
  /** The resources of each template, by their logical ids. */
  templates: z.record(z.string(), z.record(z.string(), resource)),
});

/** The templates of a version, its settings and the form of what it stores. */
export type Release = z.output<typeof release>;

type Resource = z.output<typeof resource>;

/** Made again with each build, under another logical id. */
const madeByBuild = ["AWS::ApiGateway::Deployment", "AWS::Lambda::Version"];

/** The release that a stage of `prod` would get today, without settings and with every one. */
export function releaseOfToday(): Release {
  const kept = (["deployed", "configured"] as const).flatMap((settings) =>
    Object.entries(sharedText(settings)).map(
      ([stack, text]) => [`${settings}/${stack}`, resourcesOf(parseOne(text))] as const,
    ),
  );
  const text = JSON.stringify({
    settings: [...settingNames()].sort(),
    format: dataFormat,
    templates: Object.fromEntries(kept),
  });
  return release.parse(JSON.parse(text.replaceAll(/((?:CurrentVersion|ApiDeployment)\w{8})\w{32}/g, "$1")));
}

/** What decides whether CloudFormation replaces a resource: without code, which each build changes, and texts. */
function resourcesOf({ Resources }: Template): Record<string, Resource> {
  return Object.fromEntries(
    Object.entries(Resources)
      .filter(([, { Type }]) => !madeByBuild.includes(Type))
      .map(
        ([
          id,
          {
            Type,
            Properties: { Code: _, Description: __, ...Properties },
            DeletionPolicy,
          },
        ]) => [id, { Type, Properties, ...(DeletionPolicy === undefined ? {} : { DeletionPolicy }) }],
      ),
  );
}

/** The text in which a release is kept: its JSON, compressed, in lines. */
export function packed(one: Release): string {
  return brotliCompressSync(JSON.stringify(one))
    .toString("base64")
    .replaceAll(/.{120}/g, "$&\n")
    .concat("\n");
}

/** The release in a kept text. */
export function unpacked(text: string): Release {
  return release.parse(JSON.parse(brotliDecompressSync(Buffer.from(text, "base64")).toString()));
}

/** What CloudFormation would lose or cannot do when the stacks of one release become those of the next. */
export function upgradeFaults(before: Release, after: Release): string[] {
  const ofResources = Object.entries(before.templates).flatMap(([place, old]) =>
    faultsOfTemplate(old, after.templates[place] ?? {}).map((fault) => `${place}/${fault}`),
  );
  const lost = before.settings.filter((name) => !after.settings.includes(name));
  const formats = after.format - before.format;
  return [
    ...ofResources,
    ...lost.map((name) => `the setting ${name} is gone`),
    ...(formats === 0 || formats === 1 ? [] : [`the format is ${after.format} after ${before.format}`]),
  ];
}

function faultsOfTemplate(before: Record<string, Resource>, after: Record<string, Resource>): string[] {
  const faults: string[] = [];
  fullDiff({ Resources: before }, { Resources: after }).resources.forEachDifference((id, difference) => {
    const { [id]: old } = before;
    if (old === undefined) return;
    const { [id]: made } = after;
    const lost = holdsWhatIsLost(old) ? replacement(difference) : undefined;
    const found = [
      ...(lost === undefined ? [] : [lost]),
      ...(made === undefined || made.Type !== old.Type ? [] : changesOf(old, made)),
    ];
    faults.push(...found.map((fault) => `${id}: ${fault}`));
  });
  return faults;
}

/** Types whose resources hold data, a key or an address that another resource in their place does not. */
const holding =
  /^AWS::(?:ApiGateway::(?:BasePathMapping|DomainName|Resource|RestApi|Stage)|DynamoDB::(?:Global)?Table|KMS::Key|Logs::LogGroup|Route53::RecordSet|S3::Bucket|SQS::Queue|SecretsManager::Secret)$/;

/** Whether a resource is one of these, or has a name, which AWS gives to no second one: `QueueName` of a `…Queue`. */
function holdsWhatIsLost({ Type, Properties }: Resource): boolean {
  return (
    holding.test(Type) ||
    Object.keys(Properties).some((name) => name.endsWith("Name") && Type.endsWith(name.slice(0, -4)))
  );
}

const replaced: readonly ResourceImpact[] = [ResourceImpact.WILL_REPLACE, ResourceImpact.MAY_REPLACE];

/** Why a resource does not stay what it is, undefined if it does. */
function replacement(difference: ResourceDifference): string | undefined {
  if (difference.isRemoval) return "it is removed";
  if (difference.oldResourceType !== difference.newResourceType)
    return `the type ${difference.oldResourceType} becomes ${difference.newResourceType}`;
  const by = Object.entries(difference.propertyUpdates)
    .filter(([, { changeImpact = ResourceImpact.NO_CHANGE }]) => replaced.includes(changeImpact))
    .map(([name]) => name);
  return by.length === 0 ? undefined : `it is replaced, for another ${by.join(" and ")}`;
}

/** What is an update to CloudFormation, and to an operator is not. */
function changesOf(old: Resource, made: Resource): string[] {
  const isRetained = ({ DeletionPolicy = "Delete" }: Resource) => DeletionPolicy !== "Delete";
  const stillOn = safeguardsOf(made.Properties);
  return [
    ...(isRetained(old) && !isRetained(made) ? ["it is no longer retained"] : []),
    ...safeguardsOf(old.Properties)
      .filter((one) => !stillOn.includes(one))
      .map((one) => `${one} is off`),
    ...(/^AWS::DynamoDB::(?:Global)?Table$/.test(old.Type) ? changesOfTable(old, made) : []),
  ];
}

/** The names of what protects a resource from deletion, or allows to recover it, and is on; at any depth. */
function safeguardsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    /(?:Protection|Recovery)Enabled$/.test(name) && member === true ? [name] : safeguardsOf(member),
  );
}

const tableProperties = z.object({
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.string() })),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: z.unknown(),
        Projection: z.object({
          ProjectionType: z.string(),
          NonKeyAttributes: z.array(z.string()).default([]),
        }),
      }),
    )
    .default([]),
});

/** DynamoDB makes or deletes one index at a time, and changes none; nor the type of a key. */
function changesOfTable(old: Resource, made: Resource): string[] {
  const membersOf = ({ Properties }: Resource) => {
    const { AttributeDefinitions, GlobalSecondaryIndexes } = tableProperties.parse(Properties);
    return {
      types: new Map(AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType])),
      indexes: new Map(GlobalSecondaryIndexes.map((one) => [one.IndexName, one])),
    };
  };
  const [before, after] = [membersOf(old), membersOf(made)];
  const retyped = [...before.types].filter(([name, type]) => (after.types.get(name) ?? type) !== type);
  const changed = [...before.indexes].flatMap(([name, index]) => {
    const next = after.indexes.get(name);
    if (next === undefined) return [];
    const projectionOf = ({ Projection: { ProjectionType, NonKeyAttributes } }: typeof index) =>
      [ProjectionType, ...NonKeyAttributes.toSorted()].join();
    return [
      ...(JSON.stringify(index.KeySchema) === JSON.stringify(next.KeySchema)
        ? []
        : [`${name} has other keys`]),
      ...(projectionOf(index) === projectionOf(next) ? [] : [`${name} has another projection`]),
    ];
  });
  const madeOrDeleted = [
    ...[...before.indexes.keys()].filter((name) => !after.indexes.has(name)),
    ...[...after.indexes.keys()].filter((name) => !before.indexes.has(name)),
  ];
  return [
    ...retyped.map(([name]) => `the attribute ${name} has another type`),
    ...changed.map((change) => `the index ${change}`),
    ...(madeOrDeleted.length > 1
      ? [`more than one index is made or deleted: ${madeOrDeleted.join(", ")}`]
      : []),
  ];
}
