/** The one PartiQL statement that the service makes, alone or in a batch, for the embedded DynamoDB, which knows none. */
const insert = /^INSERT INTO "([^"]+)" VALUE \{((?:'[^']+': \?(?:, )?)+)\}$/;

/**
 * Creates an item as DynamoDB does for `INSERT INTO "TABLE" VALUE {'NAME': ?, …}`: by a put that fails if there is an
 * item with that key. One has the key's attributes at least, so it is there if one with any of the attributes is.
 * @param {{ Statement: string, Parameters: unknown[] }} input of ExecuteStatement, or of a member of a batch.
 * @returns the input of PutItem.
 * @throws {Error} for any other statement.
 */
export function putOf({ Statement, Parameters = [], ...others }) {
  const [, TableName, members] = insert.exec(Statement) ?? [];
  if (TableName === undefined)
    throw new Error(`the embedded DynamoDB knows no statement but ${insert.source}`);
  const names = [...members.matchAll(/'([^']+)'/g)].map(([, name]) => name);
  return {
    ...others,
    TableName,
    Item: Object.fromEntries(names.map((name, index) => [name, Parameters[index]])),
    ConditionExpression: names.map((_, index) => `attribute_not_exists(#${index})`).join(" AND "),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#${index}`, name])),
  };
}
