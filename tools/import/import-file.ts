import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type * as z from "zod";
import { ImportError } from "../../shared/import/import-error.ts";

/** A problem of a record that conflicts with another one; the position counts from 0. */
interface Conflict {
  readonly record: number;
  readonly field: string;
  readonly message: string;
}

/** A kind of file that can be imported: the schema of its records, their identities, and how they are stored. */
export interface ImportKind<Schema extends z.ZodType> {
  /** The file's name in a data folder. */
  readonly file: string;
  readonly schema: Schema;
  /** The values that must be unique in the file, each with its field. */
  readonly identities: (
    record: z.output<Schema>,
  ) => readonly { readonly field: string; readonly value: string }[];
  /** Further conflicts between records of the file. */
  readonly contradictions?: (records: readonly z.output<Schema>[]) => readonly Conflict[];
  /** Conflicts of records with what is stored. */
  readonly conflicts?: (records: readonly z.output<Schema>[]) => Promise<readonly Conflict[]>;
  readonly write: (records: readonly z.output<Schema>[]) => Promise<void>;
}

function refusal(file: string, ...problems: readonly string[]): ImportError {
  return new ImportError(problems.map((problem) => `${file}: ${problem}`));
}

/** For a record's reads, hashes and writes together. */
const recordMilliseconds = 30_000;

/** Maximum of reported problems: a file of the wrong form has one in every record. */
const problemsNamed = 20;

/**
 * Imports a JSON array of records. All records are checked before any is written: each alone, against the others, and
 * against what is stored. A record replaces the one with its identity, so an interrupted import is simply repeated. A
 * login that is replaced loses its time of last login.
 * @returns how many records were written.
 * @throws {ImportError} naming each bad record by its position, counted from 1, and its field.
 */
export async function importFile<Schema extends z.ZodType>(
  kind: ImportKind<Schema>,
  path: string,
): Promise<number> {
  const file = basename(path);
  const records = check(kind, file, await readRecords(path));
  try {
    refuseAny(file, ((await kind.conflicts?.(records)) ?? []).map(described));
    await kind.write(records);
    return records.length;
  } catch (error) {
    throw error instanceof RecordError ? refusal(file, error.message) : error;
  }
}

async function readRecords(path: string): Promise<unknown[]> {
  const content = await readJson(path);
  if (!Array.isArray(content)) throw refusal(basename(path), "is not an array of records");
  return content;
}

async function readJson(path: string): Promise<unknown> {
  const file = basename(path);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(file, "is not JSON");
    if (error instanceof TypeError) throw refusal(file, "is not UTF-8");
    if (error instanceof Error && "code" in error) throw refusal(file, `cannot be read: ${error.code}`);
    throw error;
  }
}

/**
 * Reads a file that is one JSON value.
 * @throws {ImportError} naming each member that the schema refuses.
 */
export async function readJsonAs<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
): Promise<z.output<Schema>> {
  const parsed = schema.safeParse(await readJson(path));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `${path.map(String).join(".") || "the file"}: ${message}`,
  );
  throw refusal(basename(path), ...problems.slice(0, problemsNamed));
}

function check<Schema extends z.ZodType>(
  { schema, identities, contradictions }: ImportKind<Schema>,
  file: string,
  records: readonly unknown[],
): z.output<Schema>[] {
  const problems: string[] = [];
  const seen = new Map<string, number>();
  const checked = records.flatMap((record, index) => {
    const parsed = schema.safeParse(record);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        problems.push(described({ record: index, field: fieldOf(issue.path), message: issue.message }));
      }
      return [];
    }
    for (const path of membersLost(record, parsed.data)) {
      problems.push(described({ record: index, field: fieldOf(path), message: "unknown field" }));
    }
    for (const { field, value } of identities(parsed.data)) {
      const first = seen.get(value);
      if (first === undefined) seen.set(value, index);
      else problems.push(described({ record: index, field, message: `the same as in record ${first + 1}` }));
    }
    return [parsed.data];
  });
  refuseAny(file, problems);
  refuseAny(file, (contradictions?.(checked) ?? []).map(described));
  return checked;
}

function refuseAny(file: string, problems: readonly string[]): void {
  if (problems.length > 0) throw refusal(file, ...problems.slice(0, problemsNamed));
}

function described({ record, field, message }: Conflict): string {
  return `record ${record + 1}, ${field}: ${message}`;
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".") || "the record";
}

/** Paths of the members that a schema dropped because it does not know them: misspelt ones, at any depth. */
function membersLost(sent: unknown, kept: unknown): PropertyKey[][] {
  if (typeof sent !== "object" || sent === null || typeof kept !== "object" || kept === null) return [];
  return Object.entries(sent).flatMap(([name, value]) =>
    Object.hasOwn(kept, name)
      ? membersLost(value, kept[name as keyof typeof kept]).map((path) => [name, ...path])
      : [[name]],
  );
}

/**
 * A record that could not be stored, by its position. The cause is the class of the error only, as its text may hold
 * values.
 */
class RecordError extends Error {}

/**
 * Writes records a few at a time, each with a deadline of its own; stops at the first that fails.
 * @param recordOf where in the file an item begins, counted from 0, if an item is more than one record.
 * @param atOnce how many at a time.
 */
export async function writeEach<Item>(
  items: readonly Item[],
  write: (item: Item, signal: AbortSignal) => Promise<unknown>,
  recordOf: (item: Item, index: number) => number = (_, index) => index,
  atOnce = 8,
): Promise<void> {
  for (let start = 0; start < items.length; start += atOnce) {
    await Promise.all(
      items.slice(start, start + atOnce).map(async (item, offset) => {
        const signal = AbortSignal.timeout(recordMilliseconds);
        // A record may be many items, each of which listens for its end.
        setMaxListeners(0, signal);
        await write(item, signal).catch((error: unknown) => {
          const cause = error instanceof Error ? error.name : typeof error;
          const record = recordOf(item, start + offset) + 1;
          throw new RecordError(`record ${record}: could not be stored (${cause})`);
        });
      }),
    );
  }
}

/** Reads for many items, a few at a time, each with a deadline of its own. */
export async function readEach<Item, Found>(
  items: readonly Item[],
  read: (item: Item, signal: AbortSignal) => Promise<Found>,
): Promise<Found[]> {
  const found: Found[] = [];
  await writeEach([...items.entries()], async ([index, item], signal) => {
    found[index] = await read(item, signal);
  });
  return found;
}
