import { randomBytes } from "node:crypto";
import { getItem, insertItem } from "../aws/database.ts";
import { type PseudonymUse, pseudonymKeys } from "./table.ts";

/** The key of a use, base64url; `undefined` as long as it has not been needed. */
export async function pseudonymKey(use: PseudonymUse, signal: AbortSignal): Promise<string | undefined> {
  return (await getItem(pseudonymKeys, { use }, signal))?.key;
}

/**
 * The key of a use. Created on first use; of concurrent writers the first wins. It is never rotated, and no function has
 * the right to replace it.
 */
export async function getOrCreatePseudonymKey(use: PseudonymUse, signal: AbortSignal): Promise<string> {
  const stored = await pseudonymKey(use, signal);
  if (stored !== undefined) return stored;
  const key = randomBytes(32).toString("base64url");
  if (await insertItem(pseudonymKeys, { use, key }, signal)) return key;
  const winner = await pseudonymKey(use, signal);
  if (winner === undefined) throw new Error("the key of the pseudonyms was deleted");
  return winner;
}
