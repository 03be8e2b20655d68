import type { Command } from "commander";
import { plural } from "../../shared/plural.ts";
import { writeOut } from "../write-out.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { useStack } from "./stack.ts";

interface ExportOptions extends StackOptions {
  readonly out?: string;
}

interface EraseOptions extends StackOptions {
  readonly dryRun?: boolean;
  readonly keepAccessRecords?: boolean;
}

/** `ncs subject`: everything that is stored about a person, and its erasure. */
export function addSubject(subject: Command, print: Print, note: Print): void {
  withStackOptions(subject.command("export <subject>"))
    .description("everything stored about the holder of a subscription or phone number, as JSON")
    .option("--out <file>", "write a new file that only you may read, instead of standard output")
    .action(async (named: string, { out, ...options }: ExportOptions) => {
      const stack = await useStack(options);
      const [{ storedAbout }, { exported }, , { withPatientCalls }] = await load();
      const { subject: found, data } = await withPatientCalls(() => storedAbout(named));
      const text = exported(found, data, new Date());
      if (out === undefined) print(text);
      else await writeOut(out, `${text}\n`, { flag: "wx", mode: 0o600 });
      const count = sumOf(data.map(({ items }) => items.length));
      note(`${count} ${plural(count, "item")} of ${stack}`);
    });

  withStackOptions(subject.command("erase <subject>"))
    .description("delete everything stored about the holder of a subscription or phone number, for good")
    .option("--dry-run", "say what would be deleted, and delete nothing")
    .option("--keep-access-records", "leave the records of who read what, until they expire")
    .action(async (named: string, { dryRun, keepAccessRecords, ...options }: EraseOptions) => {
      const stack = await useStack(options);
      const [{ storedAbout }, , { erase }, { withPatientCalls }] = await load();
      const keepsAccessRecords = keepAccessRecords === true;
      const counts = await withPatientCalls(async () => {
        if (dryRun !== true) return await erase(named, keepsAccessRecords);
        const { data } = await storedAbout(named);
        const erased = data.filter(({ table }) => !keepsAccessRecords || table.name !== "access-records");
        return erased.map(({ table, items }) => [table.name, items.length] as const);
      });
      for (const [table, count] of counts) print(`${count} of ${table}`);
      const all = sumOf(counts.map(([, count]) => count));
      print(dryRun === true ? `${all} would be deleted from ${stack}` : `${all} deleted from ${stack}`);
    });
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Loads the AWS SDK, which help does not need. */
async function load() {
  return await Promise.all([
    import("../subject/stored-about.ts"),
    import("../subject/exported.ts"),
    import("../subject/erase.ts"),
    import("../../shared/aws/patient-calls.ts"),
  ]);
}
