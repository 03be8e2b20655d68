import { setMaxListeners } from "node:events";
import type * as z from "zod";
import { checkConnection } from "../../shared/aws/connection.ts";
import { NotConnected } from "../../shared/aws/connection-problem.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { Problems } from "../../shared/import/problems.ts";
import { isNestedTooDeep, nestedTooDeep } from "../../shared/nesting.ts";
import type { Table } from "../../shared/table.ts";
import { Identities } from "./identities.ts";
import { type Placed, RecordFile } from "./record-file.ts";
import { firstOfEach, problemText, unknownMember } from "./schema-problems.ts";
import { withLeases } from "./table-lease.ts";

/** Reads the valid records of a file, some at a time, in order; can be called again. */
export type Source<Content> = () => AsyncIterable<readonly Placed<Content>[]>;

/** One import of a file of some kind. */
export interface RecordImport<Content> {
  /** Called with all records before any is written; adds problems that a record's schema cannot see. */
  readonly review?: (records: readonly Placed<Content>[]) => Promise<void>;
  /** Called after all records were reviewed. */
  readonly reviewAll?: () => void;
  /**
   * Called when nothing is wrong with any record.
   * @param renew to be called before what is written without reading from the source again, which calls it itself.
   */
  readonly write: (source: Source<Content>, renew: () => Promise<void>) => Promise<void>;
  /** Called in any case. */
  readonly end?: () => Promise<void>;
}

/** A kind of file that can be imported: the schema of its records, their identities, and how they are stored. */
export interface ImportKind<Schema extends z.ZodType> {
  /** The file's name in a data folder. */
  readonly file: string;
  readonly table: Table;
  readonly schema: Schema;
  /** The values that must be unique in the file, each with its field. */
  readonly identities: (
    record: z.output<Schema>,
  ) => readonly { readonly field: string; readonly value: string }[];
  readonly begin: (problems: Problems, identities: Identities) => RecordImport<z.output<Schema>>;
}

/** How a file of records is imported. */
export interface ImportOptions {
  /** Checks everything and writes nothing. */
  readonly isDryRun?: boolean;
  readonly onProgress?: (progress: RecordProgress) => void;
}

/** How far an import is. */
interface RecordProgress {
  readonly records: number;
  /** Known once all were checked. */
  readonly all?: number;
  readonly isWriting: boolean;
}

/**
 * Imports a file of records of any size. All records are checked before any is written: each alone, against the others,
 * and against what is stored. A record replaces the one with its identity, so an interrupted import is simply repeated.
 * A login that is replaced loses its time of last login. In memory are a few hundred records at a time; what must be
 * compared is on disk meanwhile. One import at a time writes a table with personal data, and none while a person's is
 * erased.
 * @returns how many records were written, or would have been.
 * @throws {ImportError} naming the first bad records by their position, counted from 1, and their field.
 * @throws {NotConnected} before the file is read, when AWS cannot be used.
 */
export async function importFile<Schema extends z.ZodType>(
  kind: ImportKind<Schema>,
  path: string,
  options: ImportOptions = {},
): Promise<number> {
  await checkConnection(kind.table);
  const isLeased = options.isDryRun !== true && kind.table.personalData === true;
  return await withLeases(isLeased ? [kind.table] : [], (renew) => importLeased(kind, path, options, renew));
}

async function importLeased<Schema extends z.ZodType>(
  kind: ImportKind<Schema>,
  path: string,
  { isDryRun = false, onProgress }: ImportOptions,
  renew: () => Promise<void>,
): Promise<number> {
  const file = new RecordFile(path);
  const identities = new Identities();
  const problems = new Problems([file.name], "record");
  let importing: RecordImport<z.output<Schema>> | undefined;
  try {
    importing = kind.begin(problems, identities);
    const onChecked = (records: number) => onProgress?.({ records, isWriting: false });
    const all = await reviewAll(kind, file, importing, problems, identities, onChecked, renew);
    const onRead = (records: number) => onProgress?.({ records, all, isWriting: true });
    const source = () => counted(validRecords(kind, file, problems), onRead, renew);
    if (!isDryRun) await importing.write(source, renew);
    return all;
  } catch (error) {
    throw error instanceof RecordError ? file.refusal(error.message) : error;
  } finally {
    identities.remove();
    await importing?.end?.();
  }
}

/** Checks all records. @returns how many there are. */
async function reviewAll<Schema extends z.ZodType>(
  kind: ImportKind<Schema>,
  file: RecordFile,
  importing: RecordImport<z.output<Schema>>,
  problems: Problems,
  identities: Identities,
  onChecked: (records: number) => void,
  renew: () => Promise<void>,
): Promise<number> {
  let count = 0;
  await eachBatch(validRecords(kind, file, problems), async (records) => {
    await renew();
    count += records.length;
    onChecked(count);
    for (const { position, content } of records) {
      for (const identity of kind.identities(content)) identities.add(position, identity);
    }
    if (problems.count === 0) await importing.review?.(records);
  });
  importing.reviewAll?.();
  for (const { record, field, message } of identities.problems()) {
    problems.add(0, message, record + 1, field);
  }
  problems.refuse();
  return count;
}

/** Tells how many records have been read, and renews the lease before each batch is written. */
async function* counted<Content>(
  batches: AsyncIterable<readonly Placed<Content>[]>,
  onRead: (records: number) => void,
  renew: () => Promise<void>,
): AsyncGenerator<readonly Placed<Content>[]> {
  let records = 0;
  for await (const batch of batches) {
    await renew();
    yield batch;
    records += batch.length;
    onRead(records);
  }
}

/** The valid records of a file; of any other a problem is added for each of its faults. */
async function* validRecords<Schema extends z.ZodType>(
  { schema }: ImportKind<Schema>,
  file: RecordFile,
  problems: Problems,
): AsyncGenerator<readonly Placed<z.output<Schema>>[]> {
  for await (const records of file.records()) {
    yield records.flatMap(({ position, content }) => {
      const before = problems.count;
      const refuse = (path: readonly PropertyKey[], message: string) =>
        problems.add(0, message, position + 1, fieldOf(path));
      if (isNestedTooDeep(content)) {
        refuse([], nestedTooDeep);
        return [];
      }
      const parsed = schema.safeParse(content);
      if (!parsed.success) {
        for (const issue of firstOfEach(parsed.error.issues)) refuse(issue.path, problemText(issue, content));
        return [];
      }
      for (const path of membersLost(content, parsed.data)) refuse(path, unknownMember(schema, path));
      return problems.count > before ? [] : [{ position, content: parsed.data }];
    });
  }
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".") || "the record";
}

/** Paths of the members that a schema dropped because it does not know them: misspelt ones, at any depth. */
function membersLost(given: unknown, kept: unknown): PropertyKey[][] {
  if (typeof given !== "object" || given === null || typeof kept !== "object" || kept === null) return [];
  return Object.entries(given).flatMap(([name, value]) =>
    Object.hasOwn(kept, name)
      ? membersLost(value, kept[name as keyof typeof kept]).map((path) => [name, ...path])
      : [[name]],
  );
}

/** How an import writes records that do not depend on each other: `store` replaces one, each with a deadline of its own. */
export function storeEach<Content>(
  store: (content: Content, signal: AbortSignal) => Promise<unknown>,
): RecordImport<Content>["write"] {
  return (source) =>
    eachBatch(source(), (records) =>
      eachItem(
        records,
        ({ position }) => position,
        ({ content }, signal) => store(content, signal),
      ),
    );
}

/** A batch is read and checked while those before it are looked up or written. */
const batchesAtOnce = 2;

/** Runs for each batch; ends with the first that fails, when nothing is under way any more. */
export async function eachBatch<Batch>(
  batches: AsyncIterable<Batch>,
  run: (batch: Batch) => Promise<void>,
): Promise<void> {
  const underWay: Promise<void>[] = [];
  try {
    for await (const batch of batches) {
      const running = run(batch);
      // What fails while the next batch is read is thrown when it is its turn.
      running.catch(() => undefined);
      underWay.push(running);
      if (underWay.length === batchesAtOnce) await underWay.shift();
    }
    for (const running of underWay) await running;
  } finally {
    await Promise.allSettled(underWay);
  }
}

/**
 * A record that could not be stored, by its position. The cause is the class of the error only, as its text may hold
 * values.
 */
class RecordError extends Error {}

/** Records under way that are looked up or written one by one; the client decides how many calls are made at a time. */
const recordsAtOnce = 32;

/**
 * Runs for each item, some at a time, each with a deadline of its own; stops at the first that fails.
 * @param positionOf where in the file an item begins, counted from 0.
 */
export async function eachItem<Item>(
  items: Iterable<Item>,
  positionOf: (item: Item) => number,
  run: (item: Item, signal: AbortSignal) => Promise<unknown>,
  atOnce = recordsAtOnce,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let hasFailed = false;
  const runInTurn = async () => {
    for (let next = left.next(); !next.done && !hasFailed; next = left.next()) {
      try {
        const item = next.value;
        await inTime((signal) => run(item, signal));
      } catch (error) {
        hasFailed = true;
        throw notStored(`record ${positionOf(next.value) + 1}`, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, runInTurn));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Runs for records together, with a deadline. */
export async function together(
  records: readonly Placed<unknown>[],
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const [first, last] = [records[0]?.position ?? 0, records.at(-1)?.position ?? 0];
  try {
    await inTime(run);
  } catch (error) {
    throw notStored(first === last ? `record ${first + 1}` : `records ${first + 1} to ${last + 1}`, error);
  }
}

/** Runs with a deadline, whose timer ends with the run. */
async function inTime(run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const controller = new AbortController();
  // A record may be many items, each of which listens for its end.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort(), patienceMilliseconds);
  try {
    await run(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

function notStored(which: string, error: unknown): Error {
  if (error instanceof ImportError || error instanceof NotConnected) return error;
  const cause = error instanceof Error ? error.name : typeof error;
  return new RecordError(`${which}: could not be stored (${cause})`);
}
