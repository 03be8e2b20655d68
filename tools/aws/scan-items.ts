import { ScanCommand, type ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import type { Condition } from "../../shared/aws/database.ts";
import { callDatabase, nameOf } from "../../shared/aws/database-client.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import type { Table } from "../../shared/table.ts";

/** An item as it is stored. */
export type StoredItem = Readonly<Record<string, unknown>>;

/**
 * All items of a table, a page at a time. No function may do this: it reads, and costs, the whole table.
 * @param filter what items must fulfil; then every acknowledged write is seen, at twice the cost.
 */
export async function* scanItems(table: Table, filter?: Condition): AsyncGenerator<readonly StoredItem[]> {
  let from: ScanCommandOutput["LastEvaluatedKey"];
  do {
    const command = new ScanCommand({
      TableName: nameOf(table),
      ...(filter === undefined ? {} : filterParts(filter)),
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const signal = AbortSignal.timeout(patienceMilliseconds);
    const page: ScanCommandOutput = await callDatabase(
      (to) => to.send(command, { abortSignal: signal }),
      table,
    );
    yield (page.Items ?? []).map((item) => unmarshall(item));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

function filterParts({ condition, names = {}, values = {} }: Condition) {
  return {
    FilterExpression: condition,
    ExpressionAttributeNames: { ...names },
    ExpressionAttributeValues: marshall(values),
    ConsistentRead: true,
  };
}
