import type { Table } from "../../../shared/table.ts";
import type { LocalTable } from "../template/tables.ts";

/** A table as the stack's template would define it, made from its declaration, under another name. */
export function declaredTable(
  { name: declared, partitionKey, sortKey, indexes = [] }: Table,
  name: string,
): LocalTable {
  const GlobalSecondaryIndexes = indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keySchema(index.partitionKey, index.sortKey),
    Projection: { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...index.attributes] },
  }));
  const KeySchema = keySchema(partitionKey, sortKey);
  const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index) => index.KeySchema)].flat();
  return {
    logicalId: declared,
    name,
    definition: {
      AttributeDefinitions: [...new Set(keys.map(({ AttributeName }) => AttributeName))].map(
        (AttributeName) => ({ AttributeName, AttributeType: "S" }),
      ),
      KeySchema,
      ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes }),
      BillingMode: "PAY_PER_REQUEST",
    },
  };
}

function keySchema(partitionKey: string, sortKey: string | undefined): LocalTable["definition"]["KeySchema"] {
  return [
    { AttributeName: partitionKey, KeyType: "HASH" },
    ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: "RANGE" as const }]),
  ];
}
