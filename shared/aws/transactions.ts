import { randomUUID } from "node:crypto";
import {
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { Table } from "../table.ts";
import { type Condition, type Key, keyedInput, putInput, type Update, updateInput } from "./database.ts";
import { call } from "./database-client.ts";

/** One operation of a transaction. A check writes nothing: its condition must hold for the others to be written. */
export type TransactionOperation =
  | ({
      readonly kind: "put";
      readonly table: Table;
      readonly item: Readonly<Record<string, unknown>>;
    } & Partial<Condition>)
  | ({ readonly kind: "update"; readonly table: Table; readonly key: Key } & Pick<Update, "update"> &
      Partial<Condition>)
  | ({ readonly kind: "delete"; readonly table: Table; readonly key: Key } & Partial<Condition>)
  | ({ readonly kind: "check"; readonly table: Table; readonly key: Key } & Condition);

/** The result of a transaction: everything was written, or nothing. */
export type TransactionResult =
  | { readonly isWritten: true }
  /** Positions of the operations whose conditions did not hold. */
  | { readonly isWritten: false; readonly failedConditions: readonly number[] };

/**
 * Writes several items, all or none. No two operations may be on one item; at most 100 fit.
 * @param token at most 36 characters: the same operations under the same token are written once in ten minutes, so
 * that a call whose answer was lost can be made again.
 * @throws {Unavailable} when each attempt conflicted with other transactions, or the table did not answer: whether
 * everything or nothing was written is then not known.
 */
export async function transactWrite(
  operations: readonly TransactionOperation[],
  signal: AbortSignal,
  token: string = randomUUID(),
): Promise<TransactionResult> {
  const command = new TransactWriteItemsCommand({
    TransactItems: operations.map(transactItem),
    ClientRequestToken: token,
  });
  try {
    await call((to) => to.send(command, { abortSignal: signal }));
    return { isWritten: true };
  } catch (error) {
    const failedConditions = failedConditionsOf(error);
    if (failedConditions.length === 0) throw error;
    return { isWritten: false, failedConditions };
  }
}

function transactItem(operation: TransactionOperation): TransactWriteItem {
  switch (operation.kind) {
    case "put": {
      const { kind: _, table, item, ...condition } = operation;
      return { Put: putInput(table, item, condition) };
    }
    case "update": {
      const { kind: _, table, key, ...update } = operation;
      return { Update: updateInput(table, key, update) };
    }
    case "delete": {
      const { kind: _, table, key, ...condition } = operation;
      return { Delete: keyedInput(table, key, condition) };
    }
    case "check": {
      const { kind: _, table, key, ...condition } = operation;
      return {
        ConditionCheck: { ...keyedInput(table, key, condition), ConditionExpression: condition.condition },
      };
    }
  }
}

/** Positions of the operations whose conditions did not hold; none when that is not why nothing was written. */
function failedConditionsOf(error: unknown): readonly number[] {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).flatMap(({ Code }, index) =>
    Code === "ConditionalCheckFailed" ? [index] : [],
  );
}
