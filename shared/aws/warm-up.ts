import { isOnLambda } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import type { Table } from "../table.ts";
import { getItem, type Key } from "./database.ts";

/** The function's first request makes the connection if it takes longer. */
const warmUpMilliseconds = 1_000;

/**
 * Reads an item while a function is loaded on Lambda: that makes the connection and the SDK's first call before the first
 * request, with the whole processor that a function has for its start. A failure ends nothing, nor does a function that
 * has no such table: what a request needs, it asks for itself.
 * @param key one that no item has, unless the function may read no such one.
 * @returns false if DynamoDB did not answer in time.
 */
export async function warmUp(table: Table, key: Key): Promise<boolean> {
  if (!isOnLambda()) return true;
  try {
    await getItem(table, key, AbortSignal.timeout(warmUpMilliseconds));
    return true;
  } catch (error) {
    return !(error instanceof Unavailable);
  }
}
