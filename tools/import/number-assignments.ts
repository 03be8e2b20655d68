import * as z from "zod";
import { overlapsIn } from "../../functions/number-recycling/rules.ts";
import { replaceHistory } from "../../functions/number-recycling/store.ts";
import { type NumberAssignment, numberAssignment } from "../../functions/number-recycling/tables.ts";
import { type ImportKind, writeEach } from "./import-file.ts";

const schema = z.object(numberAssignment.shape).superRefine(({ from, to }, context) => {
  if (to !== undefined && to < from)
    context.addIssue({ code: "custom", path: ["to"], message: "is before from" });
});

/** Who held a number when. A file holds the whole history of every number it names. */
export const numberAssignments: ImportKind<typeof schema> = {
  file: "number-assignments.json",
  schema,
  identities: ({ phoneNumber, from }) => [{ field: "from", value: `${phoneNumber} ${from}` }],
  contradictions: (records) => {
    const histories = byNumber(records.map((record, position) => ({ ...record, position })));
    return [...histories.values()].flatMap(overlapsIn).map(([earlier, later]) => ({
      record: later.position,
      field: "from",
      message: `shares days with record ${earlier.position + 1}`,
    }));
  },
  write: (records) =>
    writeEach(
      [...byNumber(records)],
      ([number, history], signal) => replaceHistory(number, history, signal),
      ([number]) => records.findIndex(({ phoneNumber }) => phoneNumber === number),
    ),
};

function byNumber<Held extends NumberAssignment>(records: readonly Held[]): Map<string, Held[]> {
  const histories = new Map<string, Held[]>();
  for (const record of records) {
    histories.set(record.phoneNumber, [...(histories.get(record.phoneNumber) ?? []), record]);
  }
  return histories;
}
