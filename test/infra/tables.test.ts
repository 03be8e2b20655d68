import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type TableName, tables } from "../../functions/areas.ts";
import { functionRecords, optionalFunctionRecords } from "../../infra/functions.ts";
import { tableOutput } from "../../infra/output-names.ts";
import type { Table } from "../../shared/table.ts";
import { someSettings } from "./shared-templates.ts";
import {
  arnOf,
  configured,
  deployed,
  eachStage,
  only,
  parseOne,
  resourcesOf,
  sharedTemplate,
  type Template,
  tableNameOf,
  tableOf,
  texts,
} from "./template.ts";

const tableProperties = z.object({
  KeySchema: z.unknown(),
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.string() })),
  BillingMode: z.string(),
  TableName: z.string(),
  DeletionProtectionEnabled: z.boolean(),
  PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
  SSESpecification: z.unknown().optional(),
  TimeToLiveSpecification: z.unknown().optional(),
  GlobalSecondaryIndexes: z.unknown().optional(),
});

const declared: readonly Table<unknown, TableName>[] = tables;

describe.each(eachStage)("tables of %s", (stage, template) => {
  const made = resourcesOf("AWS::DynamoDB::Table", tableProperties, template);
  const key = only(resourcesOf("AWS::KMS::Key", z.unknown(), template), "keys");

  describe.each(declared.map((one) => [one.name, one] as const))("%s", (name, described) => {
    const { ephemeral = false, reimportable = false, personalData } = described;
    const table = only(
      made.filter(({ logicalId }) => logicalId === tableOf(name)),
      name,
    );

    test(`the table ${name} of ${stage} is retained and backed up unless its items can be made again`, () => {
      const isKept = stage === "prod" && !ephemeral;
      const { PointInTimeRecoverySpecification, DeletionProtectionEnabled } = table.properties;
      expect(PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled).toBe(isKept && !reimportable);
      expect(DeletionProtectionEnabled).toBe(isKept);
      const policy = isKept ? "Retain" : "Delete";
      expect(table).toMatchObject({ deletionPolicy: policy, updateReplacePolicy: policy });
    });

    test(`the table ${name} of ${stage} is encrypted with the stack's key exactly if it has personal data`, () => {
      const encrypted = { SSEEnabled: true, SSEType: "KMS", KMSMasterKeyId: arnOf(key.logicalId) };
      expect(table.properties.SSESpecification).toEqual(personalData ? encrypted : undefined);
    });
  });
});

test("warmThroughput warms a table with its indexes, and no other", () => {
  const warm = z.object({ ReadUnitsPerSecond: z.number(), WriteUnitsPerSecond: z.number() }).optional();
  const properties = z.object({
    TableName: z.string(),
    WarmThroughput: warm,
    GlobalSecondaryIndexes: z.array(z.object({ WarmThroughput: warm })).default([]),
  });
  const warmed = resourcesOf("AWS::DynamoDB::Table", properties, configured).flatMap(
    ({ properties: { TableName, WarmThroughput, GlobalSecondaryIndexes: indexes } }) => {
      const all = [WarmThroughput, ...indexes.map((index) => index.WarmThroughput)];
      return all.some((one) => one !== undefined) ? [[TableName, all]] : [];
    },
  );
  const jobs = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 8_000 };
  expect(Object.fromEntries(warmed)).toEqual({
    [tableNameOf("densities", "prod")]: [{ ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 4_000 }],
    [tableNameOf("density-jobs", "prod")]: [jobs, jobs, jobs, jobs],
  });
});

describe("the stack of the tables", () => {
  const { data, service } = texts.prod;

  test("the stack of the tables has the tables and their key and nothing else", () => {
    const types = (text: string) => Object.values(parseOne(text).Resources).map(({ Type }) => Type);
    expect(new Set(types(data))).toEqual(new Set(["AWS::DynamoDB::Table", "AWS::KMS::Key"]));
    expect(types(service).filter((type) => /DynamoDB|KMS/.test(type))).toEqual([]);
  });

  test("the stack of the tables exports its key alone", () => {
    const exported = Object.values(parseOne(data).Outputs).map(({ Value }) => Value);
    expect(exported).toEqual([
      arnOf(only(resourcesOf("AWS::KMS::Key", z.unknown(), parseOne(data)), "keys").logicalId),
    ]);
  });
});

test("a table restored under another name has another logical id, so that it can be imported", () => {
  const restored = someSettings["tables.profiles"];
  const from = sharedTemplate("someSettings");
  const tablesOf = (of: Template) =>
    new Map(
      resourcesOf("AWS::DynamoDB::Table", tableProperties, of).map(({ logicalId, properties }) => [
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

test("densities is the only reimportable table", () => {
  const imported = declared.filter(({ reimportable }) => reimportable);
  expect(imported.map(({ name }) => name)).toEqual(["densities"]);
});

test("every table is granted to a function", () => {
  const records = [...Object.values(functionRecords), ...Object.values(optionalFunctionRecords)];
  const used = new Set(records.flatMap((line) => Object.keys(line.tables ?? {})));
  expect(declared.filter(({ name }) => !used.has(name))).toEqual([]);
});
