import { expect, test } from "vitest";
import * as z from "zod";
import { tables } from "../../functions/areas.ts";
import { tableNameOf } from "../../tools/local/declared/aws-names.ts";
import { declaredTable } from "../../tools/local/declared/declared-table.ts";
import { resourcesOf } from "../infra/template.ts";

const properties = z.object({
  TableName: z.string(),
  AttributeDefinitions: z.array(z.unknown()),
  KeySchema: z.array(z.unknown()),
  GlobalSecondaryIndexes: z.array(z.unknown()).optional(),
  BillingMode: z.string(),
});

test("a table of a local run has the name, keys and indexes that it has in the template of dev", () => {
  const deployed = resourcesOf("AWS::DynamoDB::GlobalTable", properties).map((one) => one.properties);
  const byName = new Map(deployed.map((one) => [one.TableName, one]));
  for (const table of tables) {
    const local = declaredTable(table, tableNameOf(table.name));
    const { AttributeDefinitions, ...others } = byName.get(local.TableName) ?? { AttributeDefinitions: [] };
    expect({ ...local, AttributeDefinitions: new Set(local.AttributeDefinitions) }).toEqual({
      ...others,
      AttributeDefinitions: new Set(AttributeDefinitions),
    });
  }
});
