import {
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
    throw isTrouble(error) ? new Unavailable("DynamoDB", error.name) : error;
  }
}

function nameOf(table: TableName): string {
  const name = process.env[tableVariable(table)];
  if (!name) throw new Error(`environment variable ${tableVariable(table)} is absent`);
  return name;
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

/** Changes an item in place. Returns whether the condition held; `false` means that nothing was written. */
export function updateItem(
  table: TableName,
  key: Key,
  { update, condition, names, values }: Condition & { readonly update: string },
  signal: AbortSignal,
): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName: nameOf(table),
    Key: marshall(key),
    UpdateExpression: update,
    ConditionExpression: condition,
    ...expressionParts(names, values),
  });
  return ifConditionHolds(call((to) => to.send(command, { abortSignal: signal })));
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

async function ifConditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "ConditionalCheckFailedException") return false;
    throw error;
  }
}
