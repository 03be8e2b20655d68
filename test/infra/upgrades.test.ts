import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { functionOf, tableOf } from "./template.ts";
import { packed, type Release, releaseOfToday, unpacked, upgradeFaults } from "./upgrades.ts";

const folder = new URL("./released/", import.meta.url);
const textOf = (version: string) => readFileSync(new URL(`${version}.txt`, folder), "utf8");

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")));

const byNumber = new Intl.Collator("en", { numeric: true }).compare;
const released = readdirSync(folder)
  .map((file) => file.replace(/\.txt$/, ""))
  .sort(byNumber);

const today = releaseOfToday();

/**
 * What a release does on purpose, with the page that says how (docs/upgrading.md): a table that no function of the last
 * release used may go. It is empty again once the release is kept.
 */
const intended: readonly string[] = ["the setting densityImport is gone"];

test("CloudFormation can update the stacks of the last release to those of today, and nothing is lost by it", () => {
  expect(upgradeFaults(unpacked(textOf(released.at(-1) ?? "")), today)).toEqual(intended);
});

// A version that is not kept gets the templates of today; they are written once, and kept as they are.
test("the templates of the version in package.json are kept, in 100 kB at most, for the next release", async () => {
  const text = released.includes(version) ? textOf(version) : packed(today);
  expect(text.length).toBeLessThanOrEqual(100_000);
  await expect(text).toMatchFileSnapshot(new URL(`${version}.txt`, folder).pathname);
});

type Resources = Release["templates"][string];

/** The faults of a release whose templates without settings are changed. */
function faultsWith(change: (stacks: Readonly<Record<"data" | "service", Resources>>) => void): string[] {
  const next = structuredClone(today);
  change({ data: stackIn(next, "data"), service: stackIn(next, "service") });
  return upgradeFaults(today, next);
}

function stackIn({ templates }: Release, stack: string): Resources {
  return templates[`deployed/${stack}`] ?? {};
}

/** The logical id of the first resource of a type. */
function first(resources: Resources, type: string): string {
  const id = Object.keys(resources).find((one) => resources[one]?.Type === type);
  if (id === undefined) throw new Error(`there is no ${type}`);
  return id;
}

function remove(resources: Resources, type: string): void {
  delete resources[first(resources, type)];
}

/** Gives the first resource of a type another logical id. */
function move(resources: Resources, type: string): void {
  const { [first(resources, type)]: moved } = resources;
  remove(resources, type);
  if (moved !== undefined) resources.Other = moved;
}

/** The properties of the first resource of a type, or of one resource. */
function properties(resources: Resources, typeOrId: string): Record<string, unknown> {
  const found = resources[typeOrId] ?? resources[first(resources, typeOrId)];
  return found?.Properties ?? {};
}

function setText(from: Record<string, unknown>, pattern: RegExp, by: string): void {
  for (const [name, value] of Object.entries(from)) {
    const text = JSON.stringify(value);
    if (pattern.test(text)) from[name] = JSON.parse(text.replace(pattern, by));
  }
}

const jobs = tableOf("density-jobs");
const profiles = tableOf("profiles");

interface Index {
  IndexName: string;
  KeySchema: { AttributeName: string }[];
  Projection: { NonKeyAttributes: string[] };
}

function indexesOfJobs(data: Resources): Index[] {
  return properties(data, jobs).GlobalSecondaryIndexes as Index[];
}

function addIndexes(data: Resources, ...names: readonly string[]): void {
  const [like] = indexesOfJobs(data);
  if (like === undefined) throw new Error("the table has no index");
  indexesOfJobs(data).push(...names.map((IndexName) => ({ ...like, IndexName })));
}

test.each<[string, Parameters<typeof faultsWith>[0], RegExp]>([
  [
    "a queue that becomes FIFO",
    ({ service }) => Object.assign(properties(service, "AWS::SQS::Queue"), { FifoQueue: true }),
    /: it is replaced, for another FifoQueue$/,
  ],
  ["no queue", ({ service }) => remove(service, "AWS::SQS::Queue"), /QUEUE\w+: it is removed$/],
  ["no KMS key", ({ data }) => remove(data, "AWS::KMS::Key"), /DataKey\w+: it is removed$/],
  [
    "a KMS key of another logical id",
    ({ data }) => move(data, "AWS::KMS::Key"),
    /DataKey\w+: it is removed$/,
  ],
  ["no secret", ({ service }) => remove(service, "AWS::SecretsManager::Secret"), /: it is removed$/],
  [
    "a secret of another logical id",
    ({ service }) => move(service, "AWS::SecretsManager::Secret"),
    /: it is removed$/,
  ],
  [
    "a table whose protection is off",
    ({ data }) => setText(properties(data, profiles), /("DeletionProtectionEnabled":)true/, "$1false"),
    /: DeletionProtectionEnabled is off$/,
  ],
  [
    "a table whose recovery is off",
    ({ data }) => setText(properties(data, profiles), /("PointInTimeRecoveryEnabled":)true/, "$1false"),
    /: PointInTimeRecoveryEnabled is off$/,
  ],
  [
    "a table that is no longer retained",
    ({ data: { [profiles]: table } }) => Object.assign(table ?? {}, { DeletionPolicy: "Delete" }),
    /: it is no longer retained$/,
  ],
  [
    "another key of a table",
    ({ data }) => {
      properties(data, jobs).KeySchema = [{ AttributeName: "caller", KeyType: "HASH" }];
    },
    /: it is replaced, for another KeySchema$/,
  ],
  [
    "another type of a key",
    ({ data }) => setText(properties(data, jobs), /"AttributeType":"S"/, '"AttributeType":"B"'),
    /: the attribute \w+ has another type$/,
  ],
  [
    "a renamed table",
    ({ data }) => Object.assign(properties(data, jobs), { TableName: "jobs" }),
    /: it is replaced, for another TableName$/,
  ],
  [
    "a table of another type",
    ({ data: { [jobs]: table } }) => Object.assign(table ?? {}, { Type: "AWS::DynamoDB::Table" }),
    /: the type AWS::DynamoDB::GlobalTable becomes AWS::DynamoDB::Table$/,
  ],
  [
    "two new indexes of a table",
    ({ data }) => addIndexes(data, "by-sink", "by-day"),
    /: more than one index is made or deleted: by-sink, by-day$/,
  ],
  [
    "an index that is replaced by another",
    ({ data }) => {
      addIndexes(data, "by-sink");
      indexesOfJobs(data).shift();
    },
    /: more than one index is made or deleted: /,
  ],
  [
    "another projection of an index",
    ({ data }) => indexesOfJobs(data)[0]?.Projection.NonKeyAttributes.push("sink"),
    /: the index \S+ has another projection$/,
  ],
  [
    "another key of an index",
    ({ data }) => indexesOfJobs(data)[0]?.KeySchema.pop(),
    /: the index \S+ has other keys$/,
  ],
  ["no path", ({ service }) => remove(service, "AWS::ApiGateway::Resource"), /: it is removed$/],
  [
    "a log group that gets a name",
    ({ service }) => Object.assign(properties(service, "AWS::Logs::LogGroup"), { LogGroupName: "one" }),
    /: it is replaced, for another LogGroupName$/,
  ],
  [
    "a named alias of another logical id",
    ({ service }) => move(service, "AWS::Lambda::Alias"),
    /: it is removed$/,
  ],
])("an upgrade with %s is refused", (_, change, fault) => {
  expect(faultsWith(change)).toContainEqual(expect.stringMatching(fault));
});

test("an upgrade without the host name of a stage that has one is refused", () => {
  const next = structuredClone(today);
  remove(next.templates["configured/service"] ?? {}, "AWS::ApiGateway::DomainName");
  expect(upgradeFaults(today, next)).toEqual([
    expect.stringMatching(/^configured\/service\/\w+: it is removed$/),
  ]);
});

test.each<[string, Parameters<typeof faultsWith>[0]]>([
  ["nothing new", () => undefined],
  ["one new index", ({ data }) => addIndexes(data, "by-sink")],
  ["a deleted index", ({ data }) => indexesOfJobs(data).pop()],
  [
    "another endpoint",
    ({ service }) =>
      Object.assign(service, { New: structuredClone(service[functionOf("number-recycling/check")]) }),
  ],
  [
    "a new variable of a function",
    ({ service }) =>
      Object.assign(properties(service, functionOf("number-recycling/check")), { Environment: { NEW: "1" } }),
  ],
  [
    "another name of the API",
    ({ service }) => Object.assign(properties(service, "AWS::ApiGateway::RestApi"), { Name: "other" }),
  ],
  ["a removed role", ({ service }) => remove(service, "AWS::IAM::Role")],
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
