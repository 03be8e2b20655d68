import { setTimeout as wait } from "node:timers/promises";
import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { wiredName } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { type TableName, tableDescription, tableVariable } from "../tables.ts";
import { clientDefaults, isTrouble } from "./clients.ts";

/** An attribute of a key: keys are strings throughout. */
type Key = Readonly<Record<string, string>>;

/** What an item must look like, in Zod or Zod Mini: items are parsed when they are read. */
interface Schema<Item> {
  readonly parse: (item: unknown) => Item;
}

let client: DynamoDBClient | undefined;

/**
 * Runs one call on the process's client.
 * @throws {Unavailable} when the table did not answer; other errors are faults of ours.
 */
async function call<Output>(run: (client: DynamoDBClient) => Promise<Output>): Promise<Output> {
  client ??= new DynamoDBClient(clientDefaults);
  try {
    return await run(client);
  } catch (error) {
    if (!isTrouble(error)) throw error;
    // A client has so many retries to spend, and has spent some: the next call begins with all of them again.
    client = undefined;
    throw new Unavailable("DynamoDB", error.name);
  }
}

function nameOf(table: TableName): string {
  return wiredName(tableVariable(table));
}

/**
 * Reads one item by its key, strongly consistent.
 * @returns `undefined` only when the table said that there is no such item.
 */
export async function getItem<Item>(
  table: TableName,
  key: Key,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName: nameOf(table), Key: marshall(key), ConsistentRead: true });
  const { Item } = await call((to) => to.send(command, { abortSignal: signal }));
  return Item === undefined ? undefined : schema.parse(unmarshall(Item));
}

/** Reads a whole partition in the order of its sort key, page after page. */
export async function queryPartition<Item>(
  table: TableName,
  partition: string,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  let from: QueryCommandOutput["LastEvaluatedKey"];
  do {
    const command: QueryCommand = new QueryCommand({
      TableName: nameOf(table),
      KeyConditionExpression: "#partition = :partition",
      ExpressionAttributeNames: { "#partition": tableDescription(table).partitionKey },
      ExpressionAttributeValues: marshall({ ":partition": partition }),
      ConsistentRead: true,
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    const page = await call((to) => to.send(command, { abortSignal: signal }));
    for (const item of page.Items ?? []) items.push(schema.parse(unmarshall(item)));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

/** DynamoDB's limit of keys in one call. */
const keysPerCall = 100;

/** Calls of one read that are under way at a time. */
const callsAtOnce = 4;

/** The wait before keys are asked for again of which a call read none; doubled until one reads some. */
const firstPauseMilliseconds = 25;
const longestPauseMilliseconds = 400;

/**
 * Reads items by their keys, of which no two are the same, in as many calls as it takes, a few at a time. Keys that
 * a call leaves out are asked for again until all were read; only the signal ends that.
 * @returns what was found, in no order; a key without an item is left out.
 */
export async function getItems<Item>(
  table: TableName,
  keys: readonly Key[],
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = [];
  const batches: Readonly<Record<string, AttributeValue>>[][] = [];
  for (let from = 0; from < keys.length; from += keysPerCall) {
    batches.push(keys.slice(from, from + keysPerCall).map((key) => marshall(key)));
  }
  const readBatches = async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      for await (const found of batchItems(nameOf(table), batch, signal)) {
        items.push(schema.parse(unmarshall(found)));
      }
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, readBatches));
  return items;
}

/** The items of at most `keysPerCall` keys. An answer holds 16 MB at most, and less when the table is busy. */
async function* batchItems(
  name: string,
  keys: readonly Readonly<Record<string, AttributeValue>>[],
  signal: AbortSignal,
): AsyncGenerator<Readonly<Record<string, AttributeValue>>> {
  let left = keys;
  let pauseMilliseconds = firstPauseMilliseconds;
  while (left.length > 0) {
    const command = new BatchGetItemCommand({
      RequestItems: { [name]: { Keys: [...left], ConsistentRead: true } },
    });
    const answer = await call((to) => to.send(command, { abortSignal: signal }));
    const found = answer.Responses?.[name];
    left = answer.UnprocessedKeys?.[name]?.Keys ?? [];
    if (found === undefined && left.length === 0)
      throw new Unavailable("DynamoDB", "no answer for the table");
    yield* found ?? [];
    if (left.length === 0) return;
    if (found?.length) {
      pauseMilliseconds = firstPauseMilliseconds;
    } else {
      await wait(pauseMilliseconds, undefined, { signal });
      pauseMilliseconds = Math.min(2 * pauseMilliseconds, longestPauseMilliseconds);
    }
  }
}

/** What must hold for a write, in DynamoDB's expression language. */
interface Condition {
  readonly condition: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Writes a whole item. Returns whether the condition held; `false` means that nothing was written. */
export function putItem(
  table: TableName,
  item: Readonly<Record<string, unknown>>,
  { condition, names, values }: Partial<Condition>,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new PutItemCommand({
    TableName: nameOf(table),
    Item: marshall(item, { removeUndefinedValues: true }),
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...expressionParts(names, values),
  });
  return ifConditionHolds(call((to) => to.send(command, { abortSignal: signal })));
}

/** A change of an item, and what must hold for it. */
interface Update extends Condition {
  readonly update: string;
}

/** Changes an item in place. Returns whether the condition held; `false` means that nothing was written. */
export function updateItem(
  table: TableName,
  key: Key,
  update: Update,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new UpdateItemCommand(updateInput(table, key, update));
  return ifConditionHolds(call((to) => to.send(command, { abortSignal: signal })));
}

/**
 * Changes an item in place and tells what it has changed, at no cost beyond the write's.
 * @param schema of the attributes that the update names, as they are afterwards.
 * @returns `undefined` when the condition did not hold: nothing was written.
 */
export async function updatedItem<Item>(
  table: TableName,
  key: Key,
  update: Update,
  schema: Schema<Item>,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const input = updateInput(table, key, update);
  const command = new UpdateItemCommand({ ...input, ReturnValues: "UPDATED_NEW" });
  const written = await unlessConditionFails(call((to) => to.send(command, { abortSignal: signal })));
  return written === undefined ? undefined : schema.parse(unmarshall(written.Attributes ?? {}));
}

function updateInput(
  table: TableName,
  key: Key,
  { update, condition, names, values }: Update,
): UpdateItemCommandInput {
  return {
    TableName: nameOf(table),
    Key: marshall(key),
    UpdateExpression: update,
    ConditionExpression: condition,
    ...expressionParts(names, values),
  };
}

/** Deletes an item. Returns whether the condition held; `false` means that it is still there, or was not. */
export function deleteItem(
  table: TableName,
  key: Key,
  { condition, names, values }: Condition,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new DeleteItemCommand({
    TableName: nameOf(table),
    Key: marshall(key),
    ConditionExpression: condition,
    ...expressionParts(names, values),
  });
  return ifConditionHolds(call((to) => to.send(command, { abortSignal: signal })));
}

function expressionParts(
  names: Condition["names"],
  values: Condition["values"],
): Pick<UpdateItemCommandInput, "ExpressionAttributeNames" | "ExpressionAttributeValues"> {
  return {
    ...(names === undefined ? {} : { ExpressionAttributeNames: names }),
    ...(values === undefined ? {} : { ExpressionAttributeValues: marshall(values) }),
  };
}

async function ifConditionHolds(write: Promise<object>): Promise<boolean> {
  return (await unlessConditionFails(write)) !== undefined;
}

async function unlessConditionFails<Output>(write: Promise<Output>): Promise<Output | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") return undefined;
    throw error;
  }
}
