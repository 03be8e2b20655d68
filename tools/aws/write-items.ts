import { setTimeout as wait } from "node:timers/promises";
import { BatchWriteItemCommand, type WriteRequest } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { callDatabase, nameOf } from "../../shared/aws/database-client.ts";
import type { Table } from "../../shared/table.ts";

/** DynamoDB's limit of items in one call. */
const itemsPerCall = 25;

/** The pause after a call that wrote none of its items; doubled until a call writes some. */
const firstPauseMilliseconds = 25;
const longestPauseMilliseconds = 2_000;

/** An item as DynamoDB takes it. */
export type MarshalledItem = ReturnType<typeof marshalled>;

/** An item as DynamoDB takes it, without members that are undefined. */
export function marshalled(item: Readonly<Record<string, unknown>>) {
  return marshall(item, { removeUndefinedValues: true });
}

/**
 * Puts items, each replacing the one with its key, in as many calls as needed. What a call leaves unprocessed is sent
 * again until all was written or the signal aborts. Unlike a transaction it costs one write unit per KB, and has no
 * conditions: what is overwritten must be known.
 * @param items with distinct keys.
 */
export async function writeItems(
  table: Table,
  items: readonly MarshalledItem[],
  signal: AbortSignal,
): Promise<void> {
  const batches: WriteRequest[][] = [];
  for (let from = 0; from < items.length; from += itemsPerCall) {
    batches.push(items.slice(from, from + itemsPerCall).map((Item) => ({ PutRequest: { Item } })));
  }
  await Promise.all(batches.map((batch) => writeBatch(table, batch, signal)));
}

async function writeBatch(table: Table, batch: WriteRequest[], signal: AbortSignal): Promise<void> {
  const name = nameOf(table);
  let pauseMilliseconds = firstPauseMilliseconds;
  for (let left = batch; left.length > 0; ) {
    const command = new BatchWriteItemCommand({ RequestItems: { [name]: left } });
    const { UnprocessedItems } = await callDatabase((to) => to.send(command, { abortSignal: signal }), table);
    const unprocessed = UnprocessedItems?.[name] ?? [];
    if (unprocessed.length === left.length) {
      await wait(pauseMilliseconds, undefined, { signal });
      pauseMilliseconds = Math.min(2 * pauseMilliseconds, longestPauseMilliseconds);
    }
    left = unprocessed;
  }
}
