import { QueryCommand, type QueryCommandInput, type QueryCommandOutput } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import type { Schema, Table } from "../table.ts";
import { indexOf } from "./database.ts";
import { callDatabase, nameOf } from "./database-client.ts";

/** Selects items of an index. */
interface NewestQuery {
  readonly partition: string;
  /** The lowest value of the sort key to read. */
  readonly from: string;
  /** The keys, in index and table, of the last item of the previous page. */
  readonly after: Readonly<Record<string, string>> | undefined;
  /** Attributes and the values that they must have. */
  readonly where?: Readonly<Record<string, string>>;
  readonly count: number;
  /** How many items one call examines. */
  readonly limit: number;
}

/**
 * Reads items of an index in descending order of the sort key, in as many calls as `count` items take.
 * @returns the items, and whether there may be more.
 */
export async function queryNewest<Item>(
  table: Table,
  index: string,
  query: NewestQuery,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const input = inputOf(table, index, query);
  const items: Item[] = [];
  let from = query.after && marshall(query.after);
  do {
    const command = new QueryCommand({
      ...input,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const page: QueryCommandOutput = await callDatabase(
      (to) => to.send(command, { abortSignal: signal }),
      table,
    );
    for (const item of page.Items ?? []) items.push(schema.parse(unmarshall(item)));
    from = page.LastEvaluatedKey;
  } while (from !== undefined && items.length < query.count);
  return { items: items.slice(0, query.count), hasMore: from !== undefined || items.length > query.count };
}

function inputOf(table: Table, name: string, query: NewestQuery): QueryCommandInput {
  const { partitionKey, sortKey } = indexOf(table, name);
  const where = Object.entries(query.where ?? {});
  const names = where.map(([attribute], at) => [`#where${at}`, attribute]);
  const values = where.map(([, value], at) => [`:where${at}`, value]);
  return {
    TableName: nameOf(table),
    IndexName: name,
    KeyConditionExpression: "#partition = :partition AND #sort >= :from",
    ...(where.length === 0
      ? {}
      : { FilterExpression: where.map((_, at) => `#where${at} = :where${at}`).join(" AND ") }),
    ExpressionAttributeNames: {
      "#partition": partitionKey,
      "#sort": sortKey,
      ...Object.fromEntries(names),
    },
    ExpressionAttributeValues: marshall({
      ":partition": query.partition,
      ":from": query.from,
      ...Object.fromEntries(values),
    }),
    ScanIndexForward: false,
    Limit: query.limit,
  };
}
