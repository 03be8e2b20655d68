import type { Command } from "commander";
import { plural } from "../../shared/plural.ts";
import { type RecordKind, recordFiles } from "../import/data-files.ts";
import type { StoredRecord } from "../import/stored-records.ts";
import { textOf } from "../json-text.ts";
import { addListDensities } from "./list-densities.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { connectStack } from "./stack.ts";

/** What identifies the records of each kind. */
const identities: Readonly<Record<RecordKind, string>> = {
  profiles: "the e-mail addresses of logins",
  "qos-profiles": "names",
  devices: "subscriptions, or phone numbers",
  "number-assignments": "phone numbers, with their whole history",
  clients: "the ids of clients; tokens that they have stay valid until they expire",
};

const kinds = Object.keys(recordFiles) as RecordKind[];

/**
 * `ncs list`: what identifies the records of a kind. It scans the table with the operator's own rights; no function may.
 */
export function addList(listing: Command, print: Print, note: Print): void {
  for (const kind of kinds) {
    withStackOptions(listing.command(kind))
      .description(identities[kind])
      .action(async (options: StackOptions) => {
        let count = 0;
        for await (const { identity } of storedIn(kind, options, note)) {
          print(identity);
          count++;
        }
        note(`${count} ${plural(count, "record")}`);
      });
  }
  addListDensities(listing, print);
}

/** `ncs export`: records as `ncs import` takes them. */
export function addExport(exporting: Command, print: Print, note: Print): void {
  for (const kind of kinds) {
    withStackOptions(exporting.command(kind))
      .description(
        `NDJSON, as \`ncs import ${kind}\` takes it${kind === "profiles" ? "; without passwords" : ""}`,
      )
      .action(async (options: StackOptions) => {
        let count = 0;
        for await (const { content } of storedIn(kind, options, note)) {
          print(JSON.stringify(content));
          count++;
        }
        const lost = kind === "profiles" ? "; passwords cannot be recovered" : "";
        note(`${count} ${plural(count, "record")}${lost}`);
      });
  }
}

/** `ncs delete`: what is stored of leavers. */
export function addDelete(deleting: Command, print: Print): void {
  for (const kind of kinds) {
    withStackOptions(deleting.command(`${kind} [identities...]`))
      .description(identities[kind])
      .option("--file <file>", "one in each line, with or instead of those named")
      .option("--dry-run", "say what would be deleted, and delete nothing")
      .action(async (named: string[], options: DeleteOptions) => {
        const all = [...new Set([...named, ...(await linesIn(options.file))])];
        if (all.length === 0) throw new Error(`say what to delete: ${identities[kind]}, or --file FILE`);
        const stack = await connectStack(options, kind);
        const [{ deleteRecords }, { withPatientCalls }] = await Promise.all([
          import("../import/stored-records.ts"),
          import("../../shared/aws/patient-calls.ts"),
        ]);
        const isDryRun = options.dryRun === true;
        const missing = await withPatientCalls(() => deleteRecords(kind, all, isDryRun));
        const count = all.length - missing.length;
        print(isDryRun ? `${count} would be deleted from ${stack}` : `${count} deleted from ${stack}`);
        if (missing.length > 0) throw new Error(`not stored: ${missing.join(", ")}`);
      });
  }
}

interface DeleteOptions extends StackOptions {
  readonly file?: string;
  readonly dryRun?: boolean;
}

async function* storedIn(kind: RecordKind, options: StackOptions, note: Print): AsyncGenerator<StoredRecord> {
  const stack = await connectStack(options, kind);
  const { storedRecords } = await import("../import/stored-records.ts");
  note(`${kind} of ${stack}:`);
  yield* storedRecords(kind);
}

async function linesIn(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const text = await textOf(file, `--file: ${file}`);
  return text.split("\n").flatMap((line) => line.trim() || []);
}
