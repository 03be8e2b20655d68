import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type TableName, tables } from "../../functions/areas.ts";
import { bundledRecords } from "../../infra/functions.ts";
import { tableOutput } from "../../infra/output-names.ts";
import type { Table } from "../../shared/table.ts";
import { type SharedName, someSettings } from "./shared-templates.ts";
import {
  arnOf,
  attribute,
  deployed,
  eachStage,
  only,
  parseOne,
  resourcesOf,
  sharedFolder,
  sharedTemplate,
  statementsOf,
  type Template,
  tableNameOf,
  tableOf,
  texts,
} from "./template.ts";

const replica = z.object({
  Region: z.strictObject({ Ref: z.literal("AWS::Region") }),
  DeletionProtectionEnabled: z.boolean(),
  PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
  SSESpecification: z.unknown().optional(),
  Tags: z.array(z.strictObject({ Key: z.string(), Value: z.string() })),
});

const tableProperties = z.object({
  TableName: z.string(),
  Replicas: z.tuple([replica]),
  SSESpecification: z.unknown().optional(),
});

const declared: readonly Table<unknown, TableName>[] = tables;

describe.each(eachStage)("tables of %s", (stage, template) => {
  const made = resourcesOf("AWS::DynamoDB::GlobalTable", tableProperties, template);
  const key = only(resourcesOf("AWS::KMS::Key", z.unknown(), template), "keys");

  const described = declared.map((one) => ({
    ...one,
    table: only(
      made.filter(({ logicalId }) => logicalId === tableOf(one.name)),
      one.name,
    ),
  }));

  // A table that an update replaces was not made by that update, so CloudFormation knows no exception there.
  const [ephemeralPolicy, otherPolicy] =
    stage === "prod" ? ["RetainExceptOnCreate", "Retain"] : ["Delete", "Delete"];

  test(`every table of ${stage} is protected and backed up unless its items can be made again; its deletion policy is ${otherPolicy}, and ${ephemeralPolicy} of what expires`, () => {
    for (const { name, ephemeral = false, reimportable = false, table } of described) {
      const isKept = stage === "prod" && !ephemeral;
      const [{ PointInTimeRecoverySpecification, DeletionProtectionEnabled }] = table.properties.Replicas;
      expect(PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled, name).toBe(isKept && !reimportable);
      expect(DeletionProtectionEnabled, name).toBe(isKept);
      expect(table, name).toMatchObject({
        deletionPolicy: ephemeral ? ephemeralPolicy : otherPolicy,
        updateReplacePolicy: otherPolicy,
      });
    }
  });

  test(`exactly the tables of ${stage} with personal data are encrypted with the stack's key`, () => {
    for (const { name, personalData, table } of described) {
      const { SSESpecification, Replicas } = table.properties;
      expect(SSESpecification, name).toEqual(personalData ? { SSEEnabled: true, SSEType: "KMS" } : undefined);
      expect(Replicas[0].SSESpecification, name).toEqual(
        personalData ? { KMSMasterKeyId: arnOf(key.logicalId) } : undefined,
      );
    }
  });

  test(`every table of ${stage} has the stage's tags`, () => {
    for (const { name, table } of described) {
      expect(table.properties.Replicas[0].Tags, name).toEqual([
        { Key: "service", Value: "network-capabilities" },
        { Key: "stage", Value: stage },
      ]);
    }
  });
});

describe("the stack of the tables", () => {
  const { data, service } = texts.prod;

  test("the stack of the tables has the tables and their key and nothing else", () => {
    const types = (text: string) => Object.values(parseOne(text).Resources).map(({ Type }) => Type);
    expect(new Set(types(data))).toEqual(new Set(["AWS::DynamoDB::GlobalTable", "AWS::KMS::Key"]));
    expect(types(service).filter((type) => /DynamoDB|KMS/.test(type))).toEqual([]);
  });
});

test("a table restored under another name has another logical id, so that it can be imported", () => {
  const restored = someSettings["tables.profiles"];
  const from = sharedTemplate("someSettings");
  const tablesOf = (of: Template) =>
    new Map(
      resourcesOf("AWS::DynamoDB::GlobalTable", tableProperties, of).map(({ logicalId, properties }) => [
        properties.TableName,
        logicalId,
      ]),
    );
  const [before, after] = [tablesOf(deployed), tablesOf(from)];
  expect(after.has(restored)).toBe(true);
  expect(after.has(tableNameOf("profiles", "prod"))).toBe(false);
  expect([...before.values()]).not.toContain(after.get(restored));
  expect([...after].filter(([name]) => name !== restored)).toEqual(
    [...before].filter(([name]) => name !== tableNameOf("profiles", "prod")),
  );
  expect(JSON.stringify(from)).not.toContain(`${tableNameOf("profiles", "prod")}"`);
  expect(from.Outputs[tableOutput({ name: "profiles" })]?.Value).toBe(restored);
});

const functionProperties = z.object({
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  Role: attribute,
});

/** The tables that each function of a synthesis names, and what its role may use. */
function usesIn(name: SharedName) {
  const files = readdirSync(sharedFolder(name)).filter((file) => file.endsWith(".template.json"));
  const templates = files.map((file) => parseOne(readFileSync(join(sharedFolder(name), file), "utf8")));
  return templates.flatMap((from) =>
    resourcesOf("AWS::Lambda::Function", functionProperties, from).map(({ logicalId, properties }) => {
      const variables = Object.entries(properties.Environment.Variables);
      return {
        logicalId,
        names: variables.filter(([name]) => name.startsWith("TABLE_")).map(([, value]) => String(value)),
        rights: JSON.stringify(statementsOf(properties.Role["Fn::GetAtt"][0], from)),
      };
    }),
  );
}

/** The tables that versions of two successive releases name, without a right of the later one. */
function lostBetween(earlier: SharedName, later: SharedName): string[] {
  const before = usesIn(earlier);
  return usesIn(later).flatMap(({ logicalId, names, rights }) => {
    const live = before.find((one) => one.logicalId === logicalId)?.names ?? [];
    return [...live, ...names].filter((name) => !rights.includes(`:table/${name}"`));
  });
}

test("while two names of a restored table are given, the version before and the new one may both use theirs", () => {
  expect(lostBetween("configured", "restoring")).toEqual([]);
  expect(lostBetween("restoring", "restored")).toEqual([]);
  expect(usesIn("restoring").flatMap(({ names }) => names)).toEqual(
    expect.arrayContaining(["restored-profiles", "restored-devices"]),
  );
  // With the new name alone, the version before loses its table while it serves.
  expect([...new Set(lostBetween("configured", "restored"))].sort()).toEqual([
    "NetworkCapabilities-devices",
    "NetworkCapabilities-profiles",
  ]);
});

test("another value of restart changes the environment of every function, and so its version", () => {
  const variables = resourcesOf("AWS::Lambda::Function", functionProperties, sharedTemplate("restored")).map(
    ({ properties }) => properties.Environment.Variables,
  );
  expect(variables.filter(({ RESTART }) => RESTART !== "2026-11-25")).toEqual([]);
});

// A stand-in for who is meant shall be what all others hold: `hashed` callers, addresses, sinks.
test("the tables of logins, devices, assignments and jobs are declared as personal data", () => {
  const encrypted = declared.filter(({ personalData }) => personalData).map(({ name }) => name);
  const known = ["density-jobs", "devices", "number-assignments", "profiles"];
  expect(encrypted).toEqual(expect.arrayContaining(known));
});

test("every ephemeral table has a time to live", () => {
  const forgotten = declared.filter(({ ephemeral }) => ephemeral);
  expect(forgotten.filter(({ timeToLive }) => timeToLive === undefined)).toEqual([]);
});

test("every table is granted to a function, except that of imports, which ncs alone uses", () => {
  const used = new Set(Object.values(bundledRecords).flatMap((line) => Object.keys(line.tables ?? {})));
  expect(declared.map(({ name }) => name).filter((name) => !used.has(name))).toEqual(["density-imports"]);
});
