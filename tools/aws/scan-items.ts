import { ScanCommand, type ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { call, nameOf } from "../../shared/aws/database-client.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import type { Table } from "../../shared/table.ts";

/** An item as it is stored. */
export type StoredItem = Readonly<Record<string, unknown>>;

/** All items of a table, a page at a time. No function may do this: it reads, and costs, the whole table. */
export async function* scanItems(table: Table): AsyncGenerator<readonly StoredItem[]> {
  let from: ScanCommandOutput["LastEvaluatedKey"];
  do {
    const command = new ScanCommand({
      TableName: nameOf(table),
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const signal = AbortSignal.timeout(patienceMilliseconds);
    const page: ScanCommandOutput = await call((to) => to.send(command, { abortSignal: signal }));
    yield (page.Items ?? []).map((item) => unmarshall(item));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}
