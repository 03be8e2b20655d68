import * as z from "zod";
import { overlapsIn } from "../../functions/number-recycling/rules.ts";
import { replaceHistory } from "../../functions/number-recycling/store.ts";
import {
  type NumberAssignment,
  numberAssignment,
  numberAssignments as table,
} from "../../functions/number-recycling/tables.ts";
import type { Problems } from "../../shared/import/problems.ts";
import { recordFiles } from "./data-files.ts";
import { eachItem, type ImportKind, type RecordImport } from "./import-file.ts";
import type { Placed } from "./record-file.ts";
import { Spool } from "./spool.ts";

const schema = z.object(numberAssignment.shape).superRefine(({ from, to }, context) => {
  if (to !== undefined && to < from)
    context.addIssue({ code: "custom", path: ["to"], message: "is before from" });
});

/** Who held a number when. A file holds the whole history of every number it names. */
export const numberAssignments: ImportKind<typeof schema> = {
  file: recordFiles["number-assignments"],
  table,
  schema,
  identities: ({ phoneNumber, from }) => [{ field: "from", value: `${phoneNumber} ${from}` }],
  begin: (problems) => new HistoryImport(problems),
};

type Assignment = NumberAssignment & { readonly position: number };

/**
 * Assignments of a number may be anywhere in the file: those of some numbers at a time are brought together on disk.
 */
class HistoryImport implements RecordImport<NumberAssignment> {
  readonly #problems: Problems;
  readonly #assignments = new Spool<Assignment>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  async review(records: readonly Placed<NumberAssignment>[]): Promise<void> {
    for (const { position, content } of records) {
      this.#assignments.add(content.phoneNumber, { ...content, position });
    }
  }

  reviewAll(): void {
    for (const assignments of this.#assignments.partitions()) {
      for (const [earlier, later] of [...byNumber(assignments).values()].flatMap(overlapsIn)) {
        const message = `shares days with record ${earlier.position + 1}`;
        // Two of one first day have the same identity, which is a problem of its own.
        if (earlier.from !== later.from) this.#problems.add(0, message, later.position + 1, "from");
      }
    }
  }

  async write(_: unknown, renew: () => Promise<void>): Promise<void> {
    for (const assignments of this.#assignments.partitions()) {
      await eachItem(
        byNumber(assignments),
        ([, history]) => history[0]?.position ?? 0,
        async ([number, history], signal) => {
          await renew();
          const items = history.map(({ position: _, ...assignment }) => assignment);
          await replaceHistory(number, items, signal);
        },
      );
    }
  }

  async end(): Promise<void> {
    this.#assignments.remove();
  }
}

function byNumber(assignments: readonly Assignment[]): Map<string, Assignment[]> {
  const histories = new Map<string, Assignment[]>();
  for (const assignment of assignments) {
    const history = histories.get(assignment.phoneNumber) ?? [];
    history.push(assignment);
    histories.set(assignment.phoneNumber, history);
  }
  return histories;
}
