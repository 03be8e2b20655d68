import { describe, expect, test } from "vitest";
import * as z from "zod";
import { access } from "../../infra/access.ts";
import { tableOutput } from "../../infra/outputs.ts";
import { type TableName, tableDescription, tables } from "../../shared/tables.ts";
import { only, resourcesOf, tableOf, template } from "./template.ts";

const tableProperties = z.object({
  KeySchema: z.unknown(),
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.string() })),
  BillingMode: z.string(),
  PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
  TimeToLiveSpecification: z.unknown().optional(),
  GlobalSecondaryIndexes: z.unknown().optional(),
});

const names = Object.keys(tables) as TableName[];

describe("tables", () => {
  const made = resourcesOf("AWS::DynamoDB::Table", tableProperties);

  test("each description is one table, and there is no other", () => {
    expect(made.map(({ logicalId }) => logicalId).sort()).toEqual(names.map((name) => tableOf(name)).sort());
  });

  describe.each(names)("%s", (name) => {
    const { partitionKey, sortKey, timeToLive, ephemeral = false } = tableDescription(name);
    const table = only(
      made.filter(({ logicalId }) => logicalId === tableOf(name)),
      name,
    );

    test("has the keys that its stores use, all strings", () => {
      const keys = [
        { AttributeName: partitionKey, KeyType: "HASH" },
        ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: "RANGE" }]),
      ];
      expect(table.properties.KeySchema).toEqual(keys);
      expect(table.properties.AttributeDefinitions).toEqual(
        expect.arrayContaining(keys.map(({ AttributeName }) => ({ AttributeName, AttributeType: "S" }))),
      );
      expect(table.properties.AttributeDefinitions).toHaveLength(keys.length);
      expect(table.properties.GlobalSecondaryIndexes).toBeUndefined();
    });

    test("forgets items exactly when it is described so", () => {
      expect(table.properties.TimeToLiveSpecification).toEqual(
        timeToLive === undefined ? undefined : { AttributeName: timeToLive, Enabled: true },
      );
    });

    test("is paid by request", () => {
      expect(table.properties.BillingMode).toBe("PAY_PER_REQUEST");
    });

    test("can be recovered and outlives the stack unless its items can be made again", () => {
      const recovery = table.properties.PointInTimeRecoverySpecification;
      expect(recovery.PointInTimeRecoveryEnabled).toBe(!ephemeral);
      const policy = ephemeral ? "Delete" : "Retain";
      expect(table).toMatchObject({ deletionPolicy: policy, updateReplacePolicy: policy });
    });

    test("has its name among the outputs, for what a person runs", () => {
      expect(template.Outputs[tableOutput(name)]?.Value).toEqual({ Ref: table.logicalId });
    });
  });
});

test("only a table that forgets is one whose items can be made again", () => {
  for (const name of names.filter((one) => tableDescription(one).ephemeral)) {
    expect(tableDescription(name).timeToLive).toBeDefined();
  }
});

test("every table is read or written by a function", () => {
  const used = new Set(Object.values(access).flatMap((line) => Object.keys(line.tables ?? {})));
  expect(names.filter((name) => !used.has(name))).toEqual([]);
});
