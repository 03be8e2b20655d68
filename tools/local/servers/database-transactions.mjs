/**
 * TransactWriteItems on dynalite's store, made of its own parts: what an operation may say, how a condition is
 * evaluated and how an item is written are the same as in a single write.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
import { createRequire } from "node:module";
import { promisify } from "node:util";

const require = createRequire(import.meta.url);
const expressions = require("dynalite/db");
const validations = require("dynalite/validations");

const maxOperations = 100;
const tokenMilliseconds = 10 * 60_000;

/** A check is read as a deletion that is never made. */
const writeNames = {
  Put: "putItem",
  Update: "updateItem",
  Delete: "deleteItem",
  ConditionCheck: "deleteItem",
};

/** The transactions of one store. The caller of `write` must hold the lock of the store. */
export class DatabaseTransactions {
  #store;
  /** The request of each token, and until when its response is repeated. */
  #done = new Map();

  constructor(store) {
    this.#store = store;
  }

  /**
   * Writes everything or nothing.
   * @throws {Error} with the `statusCode` and the `body` of the answer.
   */
  async write({ TransactItems: items = [], ClientRequestToken: token }) {
    refuseUnless(
      items.length >= 1 && items.length <= maxOperations,
      `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length ${
        items.length < 1 ? "greater than or equal to 1" : `less than or equal to ${maxOperations}`
      }`,
    );
    const text = JSON.stringify(items);
    if (token !== undefined && this.#wasWritten(token, text)) return {};

    const operations = [];
    for (const item of items) operations.push(await this.#read(item));
    const keys = new Set(operations.map(({ id }) => id));
    refuseUnless(
      keys.size === operations.length,
      "Transaction request cannot include multiple operations on one item",
    );
    cancelIfAny(operations.map(reasonAgainst));
    await this.#writeAll(operations);
    if (token !== undefined) this.#done.set(token, { text, until: Date.now() + tokenMilliseconds });
    return {};
  }

  #wasWritten(token, text) {
    for (const [known, { until }] of this.#done) if (until <= Date.now()) this.#done.delete(known);
    const done = this.#done.get(token);
    if (done === undefined) return false;
    if (done.text === text) return true;
    throw refusal("IdempotentParameterMismatchException", {
      Message:
        "Your request was rejected because it used a client token that was already used with other parameters.",
    });
  }

  /** One operation, validated as far as possible before writing, with the current item. */
  async #read(transactItem) {
    const kinds = Object.keys(transactItem);
    const [kind] = kinds;
    const name = writeNames[kind];
    refuseUnless(
      kinds.length === 1 && name !== undefined,
      "TransactItems can only contain one of Check, Put, Update or Delete",
    );
    const { ReturnValuesOnConditionCheckFailure: returned, ...input } = transactItem[kind];
    refuseUnless(
      kind !== "ConditionCheck" || input.ConditionExpression,
      "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' " +
        "failed to satisfy constraint: Member must not be null",
    );
    const { types, custom } = require(`dynalite/validations/${name}`);
    const data = validations.checkTypes(structuredClone(input), types);
    validations.checkValidations(data, types, custom, this.#store);

    const table = await this.#call("getTable", data.TableName);
    const isPut = kind === "Put";
    const invalid = isPut
      ? expressions.validateItem(data.Item, table)
      : expressions.validateKey(data.Key, table);
    if (invalid) throw invalid;
    const key = expressions.createKey(isPut ? data.Item : data.Key, table);
    const before = await this.#item(data.TableName, key);
    const keyNames = table.KeySchema.map(({ AttributeName }) => AttributeName);
    return {
      id: `${data.TableName}\0${key}`,
      name: kind === "ConditionCheck" ? undefined : name,
      data,
      key: Object.fromEntries(keyNames.map((attribute) => [attribute, (data.Key ?? data.Item)[attribute]])),
      before,
      returnsOld: returned === "ALL_OLD",
    };
  }

  /** A failed write undoes the writes before it. */
  async #writeAll(operations) {
    const written = [];
    for (const operation of operations) {
      if (operation.name === undefined) continue;
      try {
        await this.#act(operation.name, operation.data);
        written.push(operation);
      } catch (error) {
        for (const { key, before, data } of written) await this.#restore(data.TableName, key, before);
        if (error.body === undefined) throw error;
        const isIt = (other) => other === operation;
        cancelIfAny(
          operations.map((other) =>
            isIt(other) ? { Code: "ValidationError", Message: error.body.message } : none,
          ),
        );
      }
    }
  }

  async #restore(TableName, Key, before) {
    if (before === undefined) await this.#act("deleteItem", { TableName, Key });
    else await this.#act("putItem", { TableName, Item: before });
  }

  #act(name, data) {
    return promisify(require(`dynalite/actions/${name}`))(this.#store, data);
  }

  #call(method, ...parameters) {
    return promisify(this.#store[method].bind(this.#store))(...parameters);
  }

  async #item(tableName, key) {
    const items = this.#store.getItemDb(tableName);
    try {
      return await promisify(items.get.bind(items))(key);
    } catch (error) {
      if (error.name === "NotFoundError") return undefined;
      throw error;
    }
  }
}

const none = { Code: "None" };

function reasonAgainst({ data, before, returnsOld }) {
  if (!expressions.checkConditional(data, before)) return none;
  return {
    Code: "ConditionalCheckFailed",
    Message: "The conditional request failed",
    ...(returnsOld && before !== undefined ? { Item: before } : {}),
  };
}

function cancelIfAny(reasons) {
  if (reasons.every((reason) => reason === none)) return;
  const codes = reasons.map(({ Code }) => Code).join(", ");
  throw refusal("TransactionCanceledException", {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    CancellationReasons: reasons,
  });
}

function refuseUnless(holds, message) {
  if (!holds) throw expressions.validationError(message);
}

function refusal(type, body) {
  return Object.assign(new Error(type), {
    statusCode: 400,
    body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...body },
  });
}
