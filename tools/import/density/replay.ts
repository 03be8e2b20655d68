import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  type ExclusionResult,
  rebuildTypicalDays,
} from "../../../functions/population-density/import/publish/exclude-day.ts";
import {
  type Exclusion,
  readExclusions,
} from "../../../functions/population-density/import/store/exclusion-store.ts";
import {
  type ImportedFile,
  type JournalEntry,
  nameless,
  readDaysOf,
  readFiles,
  readJournal,
} from "../../../functions/population-density/import/store/journal-store.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { firstProblems } from "../../../shared/import/problems.ts";
import { isFileError, unreadable } from "../../../shared/import/unreadable.ts";
import { statsOf } from "../file-stats.ts";
import { importedFile } from "../imported-file.ts";
import { tellWait } from "../table-lease.ts";
import { type DensityImported, importDensity } from "./import-density.ts";
import { curveOf } from "./population/curve.ts";
import { importPopulation } from "./population/import-population.ts";

/** Makes imports again that the journal has. */
export interface Replay {
  /** The folder that the files are in, at any depth. */
  readonly folder: string;
  /** The number of the first import that is made again; the first of all if absent. */
  readonly first?: number | undefined;
  /** Checks the files and stores nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Called with each import before it is made. */
  readonly onImport?: ((entry: JournalEntry) => void) | undefined;
}

/** The result of a replay. */
export interface Replayed {
  readonly imports: number;
  /** Imports that had not ended: what they stored before they failed was stored again by an import that repeated them, or not at all. */
  readonly unfinished: readonly number[];
  readonly items: number;
  readonly changed: number;
}

/**
 * Makes the imports of the journal again, in their order, by the rules and with the parts of their time, so that the
 * same bytes are published. Done twice, or again after an interruption, it ends with the same.
 * @throws {ImportError} before anything is stored, naming the files that are missing or differ.
 */
export async function replayImports({ folder, first = 1, isDryRun, onImport }: Replay): Promise<Replayed> {
  const entries = (await readJournal()).filter(({ number }) => number >= first);
  const ended = entries.filter(({ endedAt }) => endedAt !== undefined);
  const found = await findFiles(folder, ended);
  const total = { items: 0, changed: 0 };
  const exclusions = (await readExclusions()).filter(({ number }) => number >= first);
  const inOrder = [...ended, ...exclusions].sort((one, other) => one.number - other.number);
  for (const made of isDryRun === true ? [] : inOrder) {
    if ("options" in made) onImport?.(made);
    const { items, changed } = "options" in made ? await importAgain(made, found) : await excludeAgain(made);
    total.items += items;
    total.changed += changed;
  }
  const unfinished = entries.filter(({ endedAt }) => endedAt === undefined).map(({ number }) => number);
  return { imports: ended.length, unfinished, ...total };
}

/** An exclusion with an import was decided before anything of the day was stored: then nothing is made again. */
async function excludeAgain({ number, date, at }: Exclusion): Promise<ExclusionResult> {
  return await rebuildTypicalDays(date, new Date(at), {
    before: number + 1,
    onWait: (_, until) => tellWait("densities", until),
  });
}

async function importAgain(
  { number, options }: JournalEntry,
  found: FoundFiles,
): Promise<Pick<DensityImported, "changed" | "items">> {
  if (options.command === "density") {
    const files = (await readFiles(number)).map(found.pathOf);
    const coverage = options.coverage && found.pathOf(options.coverage);
    return await importDensity({ ...options, coverage, files, replay: number });
  }
  const curveName = typeof options.curve === "string" ? options.curve : found.pathOf(options.curve);
  const [file = ""] = (await readFiles(number)).map(found.pathOf);
  const { threshold, precisions } = options;
  return await importPopulation({
    file,
    kind: options.format,
    box: options.box,
    noData: options.noData,
    columns: options.columns,
    curve: await curveOf(curveName),
    curveName,
    precision: options.precision,
    provenance: options.provenance,
    publishing: { threshold, precisions },
    isDryRun: false,
    asMade: await readDaysOf(number),
  });
}

/** Files as they were imported. */
interface FoundFiles {
  readonly pathOf: (file: ImportedFile) => string;
}

/**
 * Finds the files of imports by their names, at any depth of a folder, and compares their hashes.
 * @throws {ImportError} naming those that are missing or differ.
 */
async function findFiles(folder: string, entries: readonly JournalEntry[]): Promise<FoundFiles> {
  const paths = await pathsByName(folder);
  const hashes = new Map<string, string>();
  const found = new Map<string, string>();
  const problems: string[] = [];
  for (const entry of entries) {
    for (const file of [...(await readFiles(entry.number)), ...filesIn(entry)]) {
      if (found.has(keyOf(file))) continue;
      const candidates =
        file.name === nameless ? [...paths.values()].flat() : (paths.get(nameOf(file)) ?? []);
      const path = await firstWith(file, candidates, hashes);
      if (path !== undefined) found.set(keyOf(file), path);
      else problems.push(otherFile(entry.number, file, candidates.length > 0));
    }
  }
  if (problems.length > 0) throw new ImportError(firstProblems(problems));
  return {
    pathOf: (file) => {
      const path = found.get(keyOf(file));
      if (path === undefined) throw new Error("a file was not looked for");
      return path;
    },
  };
}

/** Files that an import had in addition to those with people. */
function filesIn({ options }: JournalEntry): ImportedFile[] {
  if (options.command === "density") return options.coverage === undefined ? [] : [options.coverage];
  return typeof options.curve === "string" ? [] : [options.curve];
}

async function pathsByName(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const paths = new Map<string, string[]>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw isFileError(error) ? new ImportError([`${folder} ${unreadable(error.code)}`]) : error;
  });
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    paths.set(entry.name, [...(paths.get(entry.name) ?? []), join(entry.parentPath, entry.name)]);
  }
  return paths;
}

/** @param hashes of files that were read before; each is read once. */
async function firstWith(
  { bytes, sha256 }: ImportedFile,
  candidates: readonly string[],
  hashes: Map<string, string>,
): Promise<string | undefined> {
  for (const path of candidates) {
    if (statsOf(path)?.size !== bytes) continue;
    const hash = hashes.get(path) ?? (await importedFile(path)).sha256;
    hashes.set(path, hash);
    if (hash === sha256) return path;
  }
  return undefined;
}

/** Imports of 0.2.0 from a bucket have named files below what all keys began with. */
function nameOf({ name }: ImportedFile): string {
  return basename(name);
}

/** Why an import cannot be made again. @param isThere whether another file of its name is there. */
function otherFile(number: number, { name, bytes, sha256 }: ImportedFile, isThere: boolean): string {
  if (name === nameless) {
    return `no file has the ${bytes} bytes with the SHA-256 ${sha256}, which import ${number} has read from a pipe`;
  }
  return isThere
    ? `${name}: differs from the file that import ${number} has read`
    : `${name}: is not there, and import ${number} has read it`;
}

function keyOf(file: ImportedFile): string {
  return `${file.sha256}/${nameOf(file)}`;
}
