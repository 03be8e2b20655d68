import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import type { Table } from "../../../shared/table.ts";

/** What `CreateTable` is told of a table. */
export type LocalTable = CreateTableCommandInput & { readonly TableName: string };

/**
 * A table made from its declaration, under another name. Settings that have no effect on one machine, such as time to
 * live and backups, are left out.
 */
export function declaredTable({ partitionKey, sortKey, indexes = [] }: Table, TableName: string): LocalTable {
  const GlobalSecondaryIndexes = indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keySchema(index.partitionKey, index.sortKey),
    Projection: { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...index.attributes] },
  }));
  const KeySchema = keySchema(partitionKey, sortKey);
  const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index) => index.KeySchema)].flat();
  return {
    TableName,
    AttributeDefinitions: [...new Set(keys.map(({ AttributeName }) => AttributeName))].map(
      (AttributeName) => ({ AttributeName, AttributeType: "S" as const }),
    ),
    KeySchema,
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes }),
    BillingMode: "PAY_PER_REQUEST",
  };
}

function keySchema(partitionKey: string, sortKey: string | undefined) {
  return [
    { AttributeName: partitionKey, KeyType: "HASH" as const },
    ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: "RANGE" as const }]),
  ];
}
