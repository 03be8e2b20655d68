import { randomUUID } from "node:crypto";
import { deleteItem, getItem, putItem } from "../../shared/aws/database.ts";
import { hashed } from "../../shared/hash.ts";
import { clockToleranceSeconds } from "../../shared/tokens/token.ts";
import type { AssertionClaims } from "./rules.ts";
import { type ClientRecord, clients, usedAssertions } from "./tables.ts";

/** Finds a client. Any text may be asked for: a name that no client can have is the key of none. */
export async function findClient(clientId: string, signal: AbortSignal): Promise<ClientRecord | undefined> {
  return await getItem(clients, { clientId }, signal);
}

/** Stores a client, replacing the one with the same name. */
export async function replaceClient(client: ClientRecord, signal: AbortSignal): Promise<void> {
  await putItem(clients, { ...client }, {}, signal);
}

/** Deletes a client. Returns whether there was one. Tokens that it has stay valid until they expire. */
export function deleteClient(clientId: string, signal: AbortSignal): Promise<boolean> {
  return deleteItem(clients, { clientId }, { condition: "attribute_exists(clientId)" }, signal);
}

/** Whether an assertion was used before. Another request may be using it now: only `useAssertion` decides. */
export async function wasUsed(claims: AssertionClaims, signal: AbortSignal): Promise<boolean> {
  return (await getItem(usedAssertions, { jtiHash: hashOf(claims) }, signal)) !== undefined;
}

/**
 * Marks an assertion as used, until it has expired. Returns whether this is its first use; the write may be sent again
 * after its answer was lost.
 */
export function useAssertion(claims: AssertionClaims, signal: AbortSignal): Promise<boolean> {
  const markedBy = randomUUID();
  const item = {
    jtiHash: hashOf(claims),
    markedBy,
    expiresAt: Math.ceil(claims.exp) + 2 * clockToleranceSeconds,
  };
  const first = {
    condition: "attribute_not_exists(jtiHash) OR markedBy = :markedBy",
    values: { ":markedBy": markedBy },
  };
  return putItem(usedAssertions, item, first, signal);
}

function hashOf({ iss, jti }: AssertionClaims): string {
  return hashed(JSON.stringify([iss, jti]));
}
