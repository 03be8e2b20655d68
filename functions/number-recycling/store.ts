import { deleteItem, putItem, queryPartition } from "../../shared/aws/database.ts";
import { type NumberAssignment, numberAssignments } from "./tables.ts";

/** All assignments of a number, the earliest first; empty for a number that was never assigned. */
export function historyOf(phoneNumber: string, signal: AbortSignal): Promise<NumberAssignment[]> {
  return queryPartition(numberAssignments, phoneNumber, signal);
}

/**
 * Replaces the history of a number.
 *
 * Assignments that remain are written first, so that the number never looks unassigned meanwhile.
 */
export async function replaceHistory(
  phoneNumber: string,
  history: readonly NumberAssignment[],
  signal: AbortSignal,
): Promise<void> {
  const before = await historyOf(phoneNumber, signal);
  await Promise.all(history.map((assignment) => putItem(numberAssignments, assignment, {}, signal)));
  const gone = before.filter(({ from }) => !history.some((assignment) => assignment.from === from));
  const exists = { condition: "attribute_exists(phoneNumber)" };
  await Promise.all(
    gone.map(({ from }) => deleteItem(numberAssignments, { phoneNumber, from }, exists, signal)),
  );
}
