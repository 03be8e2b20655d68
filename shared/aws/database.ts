import { setTimeout as wait } from "node:timers/promises";
import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  ExecuteStatementCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { Unavailable } from "../errors.ts";
import type { Index, Schema, Table } from "../table.ts";
import { callDatabase, isThrottledStatement, nameOf, requestClient } from "./database-client.ts";
import { updateOnce } from "./direct-update.ts";

/** A primary key; all key attributes are strings. */
export type Key = Readonly<Record<string, string>>;

/**
 * The consistency of a read: `strong` sees every acknowledged write; `eventual` may miss the most recent ones, at half
 * the price and twice the throughput per partition.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
 */
type Consistency = "strong" | "eventual";

/**
 * Reads one item by its key.
 * @returns `undefined` only if the table said that there is no such item.
 */
export async function getItem<Item>(
  table: Table<Item>,
  key: Key,
  signal: AbortSignal,
  consistency: Consistency = "strong",
): Promise<Item | undefined> {
  const ConsistentRead = consistency === "strong";
  const command = new GetItemCommand({ TableName: nameOf(table), Key: marshall(key), ConsistentRead });
  const { Item } = await callDatabase((to) => to.send(command, { abortSignal: signal }), table);
  return Item === undefined ? undefined : table.schema.parse(unmarshall(Item));
}

/** Reads a whole partition in the order of its sort key, page after page. */
export async function queryPartition<Item>(
  table: Table<Item>,
  partition: string,
  signal: AbortSignal,
  consistency: Consistency = "strong",
): Promise<Item[]> {
  const query = partitionQuery(table, table.partitionKey, partition);
  return queryAll(table, { ...query, ConsistentRead: consistency === "strong" }, table.schema, signal);
}

/**
 * Reads a partition of a table's index in the order of its sort key, page after page. The most recent writes may be
 * missing.
 * @param schema of the attributes that the index holds.
 */
export async function queryIndex<Item>(
  table: Table,
  name: string,
  partition: string,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item[]> {
  return queryAll(table, indexQuery(table, indexOf(table, name), partition), schema, signal);
}

/**
 * Reads the first entries of a partition of a table's index in the order of its sort key, at most one page. The most
 * recent writes may be missing.
 * @param schema of the attributes that the index holds.
 */
export async function queryFirst<Item>(
  table: Table,
  name: string,
  partition: string,
  count: number,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item[]> {
  const query = { ...indexQuery(table, indexOf(table, name), partition), Limit: count };
  const command = new QueryCommand(query);
  const { Items = [] } = await callDatabase((to) => to.send(command, { abortSignal: signal }), table);
  return Items.map((item) => schema.parse(unmarshall(item)));
}

/** An index of a table, by its name. */
export function indexOf(table: Table, name: string): Index {
  const index = table.indexes?.find((one) => one.name === name);
  if (index === undefined) throw new Error(`${table.name} has no index ${name}`);
  return index;
}

function indexQuery(table: Table, { name, partitionKey }: Index, partition: string): QueryCommandInput {
  return { ...partitionQuery(table, partitionKey, partition), IndexName: name, ConsistentRead: false };
}

function partitionQuery(table: Table, partitionKey: string, partition: string): QueryCommandInput {
  return {
    TableName: nameOf(table),
    KeyConditionExpression: "#partition = :partition",
    ExpressionAttributeNames: { "#partition": partitionKey },
    ExpressionAttributeValues: marshall({ ":partition": partition }),
    ConsistentRead: true,
  };
}

async function queryAll<Item>(
  table: Table,
  query: QueryCommandInput,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  let from: QueryCommandOutput["LastEvaluatedKey"];
  do {
    const command = new QueryCommand({
      ...query,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const page: QueryCommandOutput = await callDatabase(
      (to) => to.send(command, { abortSignal: signal }),
      table,
    );
    for (const item of page.Items ?? []) items.push(schema.parse(unmarshall(item)));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

/** DynamoDB's maximum number of keys per call. */
const keysPerCall = 100;

/** Concurrent calls per read. */
const callsAtOnce = 4;

/** The pause after a call that executed nothing of its batch; doubled until a call executes anything. */
const firstPauseMilliseconds = 25;
const longestPauseMilliseconds = 400;

/**
 * Reads items by distinct keys, in as many calls as needed, a few at a time. Unprocessed keys are requested again until
 * all have been read or the signal aborts.
 * @returns the items that exist, in no order.
 */
export async function getItems<Item>(
  table: Table<Item>,
  keys: readonly Key[],
  signal: AbortSignal,
  consistency: Consistency = "strong",
): Promise<Item[]> {
  const items: Item[] = [];
  const batches: Readonly<Record<string, AttributeValue>>[][] = [];
  for (let from = 0; from < keys.length; from += keysPerCall) {
    batches.push(keys.slice(from, from + keysPerCall).map((key) => marshall(key)));
  }
  const readBatches = async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      for await (const found of batchItems(table, batch, consistency, signal)) {
        items.push(table.schema.parse(unmarshall(found)));
      }
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, readBatches));
  return items;
}

/** The items of at most `keysPerCall` keys. A response holds 16 MB at most, and less if the table is throttled. */
async function* batchItems(
  table: Table,
  keys: readonly Readonly<Record<string, AttributeValue>>[],
  consistency: Consistency,
  signal: AbortSignal,
): AsyncGenerator<Readonly<Record<string, AttributeValue>>> {
  const name = nameOf(table);
  let left = keys;
  const pause = new BatchPause(signal);
  while (left.length > 0) {
    const command = new BatchGetItemCommand({
      RequestItems: { [name]: { Keys: [...left], ConsistentRead: consistency === "strong" } },
    });
    const answer = await callDatabase((to) => to.send(command, { abortSignal: signal }), table);
    const found = answer.Responses?.[name];
    left = answer.UnprocessedKeys?.[name]?.Keys ?? [];
    if (found === undefined && left.length === 0)
      throw new Unavailable("DynamoDB", "no answer for the table");
    yield* found ?? [];
    if (left.length > 0) await pause.after((found ?? []).length > 0);
  }
}

/** The pauses before the rest of a batch is asked for again. */
class BatchPause {
  readonly #signal: AbortSignal;
  #milliseconds = firstPauseMilliseconds;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** @param isPartial whether the last call executed anything: then the next one follows at once. */
  async after(isPartial: boolean): Promise<void> {
    if (isPartial) {
      this.#milliseconds = firstPauseMilliseconds;
      return;
    }
    await wait(this.#milliseconds, undefined, { signal: this.#signal });
    this.#milliseconds = Math.min(2 * this.#milliseconds, longestPauseMilliseconds);
  }
}

/** The condition of a write, in DynamoDB's expression language. */
export interface Condition {
  readonly condition: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Writes a whole item. Returns whether the condition held; `false` means that nothing was written. */
export async function putItem(
  table: Table,
  item: Readonly<Record<string, unknown>>,
  condition: Partial<Condition>,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new PutItemCommand(putInput(table, item, condition));
  return ifConditionHolds(callDatabase((to) => to.send(command, { abortSignal: signal }), table));
}

/** A write that was refused because its condition did not hold: the item as it was then; undefined if there was none. */
export interface Refused<Item> {
  readonly found: Item | undefined;
}

/**
 * Writes a whole item.
 * @returns undefined if the condition held; otherwise nothing was written, and the item as it was then.
 */
export async function putOrFind<Item>(
  table: Table<Item>,
  item: Readonly<Record<string, unknown>>,
  condition: Condition,
  signal: AbortSignal,
): Promise<Refused<Item> | undefined> {
  const command = new PutItemCommand({ ...putInput(table, item, condition), ...findIfRefused });
  return await refusalOf(
    table,
    callDatabase((to) => to.send(command, { abortSignal: signal }), table),
  );
}

/**
 * Creates an item, by a statement that never replaces one: a function that may do nothing else with a table
 * (`dynamodb:PartiQLInsert`) cannot change what is there, even with wrong code.
 * @returns whether there was no item with its key; `false` means that nothing was written.
 */
export async function insertItem(
  table: Table,
  item: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new ExecuteStatementCommand(insertStatement(table, item));
  return ifConditionHolds(callDatabase((to) => to.send(command, { abortSignal: signal }), table));
}

function insertStatement(table: Table, item: Readonly<Record<string, unknown>>) {
  const attributes = Object.entries(marshall(item, { removeUndefinedValues: true }));
  const members = attributes.map(([name]) => `'${name}': ?`).join(", ");
  return {
    Statement: `INSERT INTO "${nameOf(table)}" VALUE {${members}}`,
    Parameters: attributes.map(([, value]) => value),
  };
}

/** DynamoDB's maximum number of statements per call. */
const statementsPerCall = 25;

/**
 * Creates items as `insertItem` does, 25 with a call. Each is created by itself, in no order; those that the table
 * throttles are tried again until the signal aborts.
 * @returns for each item whether there was none with its key; where `false`, nothing was written.
 */
export async function insertItems(
  table: Table,
  items: readonly Readonly<Record<string, unknown>>[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const isInserted: boolean[] = [];
  for (let from = 0; from < items.length; from += statementsPerCall) {
    isInserted.push(...(await insertBatch(table, items.slice(from, from + statementsPerCall), signal)));
  }
  return isInserted;
}

/** @param items at most `statementsPerCall`. */
async function insertBatch(
  table: Table,
  items: readonly Readonly<Record<string, unknown>>[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const isInserted = items.map(() => true);
  let left = items.map((item, index) => ({ index, statement: insertStatement(table, item) }));
  const pause = new BatchPause(signal);
  while (left.length > 0) {
    const command = new BatchExecuteStatementCommand({ Statements: left.map(({ statement }) => statement) });
    const { Responses = [] } = await callDatabase((to) => to.send(command, { abortSignal: signal }), table);
    const throttled = left.filter(({ index }, position) => {
      const error = Responses[position]?.Error;
      if (error === undefined) return false;
      if (isThrottledStatement(error)) return true;
      if (error.Code !== "DuplicateItem") throw new Error(`DynamoDB refused a statement with ${error.Code}`);
      isInserted[index] = false;
      return false;
    });
    if (throttled.length > 0) await pause.after(throttled.length < left.length);
    left = throttled;
  }
  return isInserted;
}

/** A change of an item, and its condition. */
export interface Update extends Condition {
  readonly update: string;
}

/** Changes an item in place. Returns whether the condition held; `false` means that nothing was written. */
export async function updateItem(
  table: Table,
  key: Key,
  update: Update,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new UpdateItemCommand(updateInput(table, key, update));
  return ifConditionHolds(callDatabase((to) => to.send(command, { abortSignal: signal }), table));
}

/**
 * Changes an item in place.
 * @param schema of the updated attributes.
 * @returns the changed attributes if the condition held; otherwise nothing was written, and the item as it was then.
 */
export async function updateOrFind<Item, Updated>(
  table: Table<Item>,
  key: Key,
  update: Update,
  schema: Schema<Updated>,
  signal: AbortSignal,
): Promise<{ readonly updated: Updated } | Refused<Item>> {
  const command = new UpdateItemCommand({ ...updateAndReturnInput(table, key, update), ...findIfRefused });
  const write = callDatabase((to) => to.send(command, { abortSignal: signal }), table);
  const refused = await refusalOf(table, write);
  return refused ?? { updated: schema.parse(unmarshall((await write).Attributes ?? {})) };
}

/**
 * Changes an item in place and returns the changed attributes, at no additional cost.
 * @param schema of the updated attributes.
 * @returns `undefined` if the condition did not hold: nothing was written.
 */
export async function updateAndReturn<Item>(
  table: Table,
  key: Key,
  update: Update,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const command = new UpdateItemCommand(updateAndReturnInput(table, key, update));
  const written = await unlessConditionFails(
    callDatabase((to) => to.send(command, { abortSignal: signal }), table),
  );
  return written === undefined ? undefined : schema.parse(unmarshall(written.Attributes ?? {}));
}

/**
 * Changes an item as `updateOrFind` does, in one attempt: for a write that has no condition by which a second attempt
 * finds that the first one was executed.
 * @throws {Unavailable} for anything else: it is unknown whether the item was changed.
 */
export async function updateOrFindOnce<Item, Updated>(
  table: Table<Item>,
  key: Key,
  update: Update,
  schema: Schema<Updated>,
  signal: AbortSignal,
): Promise<{ readonly updated: Updated } | Refused<Item>> {
  const input = { ...updateAndReturnInput(table, key, update), ...findIfRefused };
  const end = await updateOnce(requestClient(), input, schema, signal);
  return "updated" in end ? end : foundIn(table, end.found);
}

/**
 * Changes an item in place, or creates it, and returns it as it was just before, at no additional cost.
 * @returns `undefined` if there was none.
 */
export async function updateWithPrevious<Item>(
  table: Table<Item>,
  key: Key,
  update: Omit<Update, "condition">,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const command = new UpdateItemCommand({ ...updateInput(table, key, update), ReturnValues: "ALL_OLD" });
  const { Attributes } = await callDatabase((to) => to.send(command, { abortSignal: signal }), table);
  return Attributes === undefined ? undefined : table.schema.parse(unmarshall(Attributes));
}

/** Deletes an item. Returns whether the condition held; `false` means that nothing was deleted. */
export async function deleteItem(
  table: Table,
  key: Key,
  condition: Partial<Condition>,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new DeleteItemCommand(keyedInput(table, key, condition));
  return ifConditionHolds(callDatabase((to) => to.send(command, { abortSignal: signal }), table));
}

function putInput(table: Table, item: Readonly<Record<string, unknown>>, condition: Partial<Condition>) {
  const Item = marshall(item, { removeUndefinedValues: true });
  return { TableName: nameOf(table), Item, ...conditionParts(condition) };
}

function keyedInput(table: Table, key: Key, condition: Partial<Condition>) {
  return { TableName: nameOf(table), Key: marshall(key), ...conditionParts(condition) };
}

function updateInput(
  table: Table,
  key: Key,
  { update, ...condition }: Pick<Update, "update"> & Partial<Condition>,
) {
  return { ...keyedInput(table, key, condition), UpdateExpression: update };
}

function updateAndReturnInput(table: Table, key: Key, update: Update) {
  return { ...updateInput(table, key, update), ReturnValues: "UPDATED_NEW" } as const;
}

function conditionParts({ condition, names, values }: Partial<Condition>) {
  return {
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...(names === undefined ? {} : { ExpressionAttributeNames: names }),
    ...(values === undefined ? {} : { ExpressionAttributeValues: marshall(values) }),
  };
}

/** Makes a refused write return the item, at no additional cost and as a strong read would. */
const findIfRefused = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

async function refusalOf<Item>(
  table: Table<Item>,
  write: Promise<object>,
): Promise<Refused<Item> | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return foundIn(table, error.Item);
  }
}

function foundIn<Item>(table: Table<Item>, item: Record<string, AttributeValue> | undefined): Refused<Item> {
  return { found: item === undefined ? undefined : table.schema.parse(unmarshall(item)) };
}

async function ifConditionHolds(write: Promise<object>): Promise<boolean> {
  return (await unlessConditionFails(write)) !== undefined;
}

/** Errors that say that an item is not as the write requires. */
const refusals = ["ConditionalCheckFailedException", "DuplicateItemException"];

async function unlessConditionFails<Output>(write: Promise<Output>): Promise<Output | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof Error && refusals.includes(error.name)) return undefined;
    throw error;
  }
}
