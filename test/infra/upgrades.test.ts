import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { dataStackName, stackName } from "../../infra/stack-names.ts";
import { digestIn, digestText, releaseDigestOf, stacksOfToday, upgradeFaults } from "./release-digest.ts";
import { functionOf, type Template, tableOf } from "./template.ts";

const folder = new URL("./released/", import.meta.url);
const digestOfVersion = (version: string) =>
  digestIn(readFileSync(new URL(`${version}.ndjson`, folder), "utf8"));

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")));

const byNumber = new Intl.Collator("en", { numeric: true }).compare;
const released = readdirSync(folder)
  .map((file) => file.replace(/\.ndjson$/, ""))
  .sort(byNumber);

const stacks = stacksOfToday();
const today = releaseDigestOf(stacks);

/**
 * What a release does on purpose, with the page that says how (docs/upgrading.md): a table that no function of the last
 * release used may go. It is empty again once the release has its digest.
 */
const intended: readonly string[] = ["the setting densityImport is gone"];

test("CloudFormation can update the stacks of the last release to those of today, and none loses a table", () => {
  expect(upgradeFaults(digestOfVersion(released.at(-1) ?? ""), today)).toEqual(intended);
});

// A version without a digest gets that of today; it is written once, and kept as it is.
test("the version in package.json has a digest, with which the templates of the next release are compared", async () => {
  const digest = released.includes(version) ? digestOfVersion(version) : today;
  await expect(digestText(digest)).toMatchFileSnapshot(new URL(`${version}.ndjson`, folder).pathname);
});

test("of 0.1.0, which was never deployed, no table becomes what it is today", () => {
  const faults = upgradeFaults(digestOfVersion("0.1.0"), today);
  const types = faults.filter((fault) =>
    fault.endsWith("the type AWS::DynamoDB::Table becomes AWS::DynamoDB::GlobalTable"),
  );
  expect(types).toHaveLength(17);
  expect(faults).toEqual([...types, ...intended]);
});

interface TableProperties {
  TableName: string;
  KeySchema: { AttributeName: string; KeyType: string }[];
  GlobalSecondaryIndexes: { IndexName: string; Projection: { NonKeyAttributes: string[] } }[];
}

/** The faults of a release whose table of jobs is changed, or whose templates are. */
function faultsWith(change: (table: TableProperties, copy: Record<string, Template>) => void): string[] {
  const copy: Record<string, Template> = structuredClone(stacks);
  change(propertiesOfTable(copy), copy);
  return upgradeFaults(today, releaseDigestOf(copy));
}

const jobs = tableOf("density-jobs");

function propertiesOfTable(copy: Readonly<Record<string, Template>>): TableProperties {
  return copy[dataStackName]?.Resources[jobs]?.Properties as unknown as TableProperties;
}

const withIndexes = (table: TableProperties, ...names: readonly string[]) => {
  const [like] = table.GlobalSecondaryIndexes;
  if (like === undefined) throw new Error("the table has no index");
  table.GlobalSecondaryIndexes.push(...names.map((IndexName) => ({ ...like, IndexName })));
};

const resourcesIn = (copy: Record<string, Template>, stack: string) => copy[stack]?.Resources ?? {};

test.each<[string, Parameters<typeof faultsWith>[0], RegExp]>([
  [
    "two new indexes of a table",
    (table) => withIndexes(table, "by-sink", "by-day"),
    /: more than one index is made or deleted: by-sink, by-day$/,
  ],
  [
    "an index that is replaced by another",
    (table) => {
      withIndexes(table, "by-sink");
      table.GlobalSecondaryIndexes.shift();
    },
    /: more than one index is made or deleted: /,
  ],
  [
    "a changed projection",
    (table) => table.GlobalSecondaryIndexes[0]?.Projection.NonKeyAttributes.push("sink"),
    /: the index .+ has another projection$/,
  ],
  [
    "a changed key",
    (table) => table.KeySchema.splice(0, 1, { AttributeName: "caller", KeyType: "HASH" }),
    /: the keys .+ become caller /,
  ],
  [
    "a renamed table",
    (table) => {
      table.TableName = "jobs";
    },
    /: NetworkCapabilities-density-jobs becomes jobs$/,
  ],
  [
    "a table that is gone",
    (_, copy) => {
      delete resourcesIn(copy, dataStackName)[jobs];
    },
    /: the table is gone$/,
  ],
  [
    "a table under another logical id",
    (_, copy) => {
      const resources = resourcesIn(copy, dataStackName);
      const { [jobs]: table } = resources;
      delete resources[jobs];
      if (table !== undefined) resources.Jobs = table;
    },
    /: NetworkCapabilities-density-jobs is made again as .+\/Jobs$/,
  ],
  [
    "a table of another type",
    (_, copy) => {
      const { [jobs]: table } = resourcesIn(copy, dataStackName);
      if (table !== undefined) table.Type = "AWS::DynamoDB::Table";
    },
    /: the type AWS::DynamoDB::GlobalTable becomes AWS::DynamoDB::Table$/,
  ],
  [
    "a table that is no longer retained",
    (_, copy) => {
      const { [tableOf("profiles")]: table } = resourcesIn(copy, dataStackName);
      if (table !== undefined) table.DeletionPolicy = "Delete";
    },
    /: it is no longer retained$/,
  ],
])("an upgrade with %s is refused", (_, change, fault) => {
  expect(faultsWith(change)).toEqual([expect.stringMatching(fault)]);
});

/** The digest of the stacks with another name, or another logical id, of their first resource of a type. */
function digestWith(type: string, property: string, name: string | undefined, otherId?: string) {
  const copy: Record<string, Template> = structuredClone(stacks);
  for (const [stack, { Resources }] of Object.entries(copy)) {
    const found = Object.entries(Resources).find(([, { Type }]) => Type === type);
    if (found === undefined) continue;
    const [id, resource] = found;
    resource.Properties[property] = name;
    delete Resources[id];
    Resources[otherId ?? id] = resource;
    return { digest: releaseDigestOf(copy), place: `${stack}/${id}`, otherPlace: `${stack}/${otherId}` };
  }
  throw new Error(`there is no ${type}`);
}

describe.each([
  ["queue", "AWS::SQS::Queue", "QueueName"],
  ["secret", "AWS::SecretsManager::Secret", "Name"],
  ["log group", "AWS::Logs::LogGroup", "LogGroupName"],
  ["role", "AWS::IAM::Role", "RoleName"],
  ["function", "AWS::Lambda::Function", "FunctionName"],
  ["composite alarm", "AWS::CloudWatch::CompositeAlarm", "AlarmName"],
])("of a %s with a name", (kind, type, property) => {
  const { digest: before, place } = digestWith(type, property, "one");

  test(`an upgrade that renames a ${kind} is refused`, () => {
    const { digest } = digestWith(type, property, "other");
    expect(upgradeFaults(before, digest)).toEqual([`${place}: one becomes other`]);
  });

  test(`an upgrade that leaves the name of a ${kind} to CloudFormation is refused`, () => {
    const { digest } = digestWith(type, property, undefined);
    expect(upgradeFaults(before, digest)).toEqual([`${place}: one becomes a generated name`]);
  });

  test(`an upgrade that makes a ${kind} of the same name under another logical id is refused`, () => {
    const { digest, otherPlace } = digestWith(type, property, "one", "Other");
    expect(upgradeFaults(before, digest)).toEqual([`${place}: one is made again as ${otherPlace}`]);
  });
});

test("an upgrade that changes what the API is called is not refused, because that replaces nothing", () => {
  const { digest: before } = digestWith("AWS::ApiGateway::RestApi", "Name", "one");
  expect(upgradeFaults(before, digestWith("AWS::ApiGateway::RestApi", "Name", "other").digest)).toEqual([]);
});

test.each<[string, Parameters<typeof faultsWith>[0]]>([
  ["nothing new", () => undefined],
  ["one new index", (table) => withIndexes(table, "by-sink")],
  [
    "a deleted index",
    (table) => {
      table.GlobalSecondaryIndexes.pop();
    },
  ],
  [
    "another endpoint",
    (_, copy) => {
      const resources = resourcesIn(copy, stackName);
      const { [functionOf("number-recycling/check")]: one } = resources;
      if (one !== undefined) Object.assign(resources, { NewFunction: structuredClone(one) });
    },
  ],
  [
    "a new variable of a function",
    (_, copy) => {
      const one = resourcesIn(copy, stackName)[functionOf("number-recycling/check")];
      if (one !== undefined) one.Properties.Environment = { Variables: { NEW: "1" } };
    },
  ],
])("an upgrade with %s is not refused", (_, change) => {
  expect(faultsWith(change)).toEqual([]);
});

test("an upgrade that loses a setting, or writes a format two further, is refused", () => {
  const later = { ...today, settings: today.settings.slice(1), format: today.format + 2 };
  expect(upgradeFaults(today, later)).toEqual([
    `the setting ${today.settings[0]} is gone`,
    `the format is ${today.format + 2} after ${today.format}`,
  ]);
});
