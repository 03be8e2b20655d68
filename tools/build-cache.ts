/** A cache of folders that take seconds to make and depend on files of the project only. */
import { createHash, randomUUID } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isFileError } from "../shared/import/unreadable.ts";

/** The number of folders that are kept for each name: those that were used last. */
const maxKept = 4;

/** An incomplete copy that is older than this belongs to a run that was killed. */
const copyingMilliseconds = 600_000;

/** The files that determine the packages: wanted and installed ones. */
export const installed = ["package.json", "package-lock.json", "node_modules/.package-lock.json"];

const root = fileURLToPath(new URL("..", import.meta.url));

/** The folder of everything that programs of the project keep for each other. */
export function cacheOf(project = root): string {
  return join(project, "node_modules", ".cache", "network-capabilities");
}

/** A folder that can be made again. */
export interface KeptFolder {
  /**
   * Puts the kept files into an empty folder; `false` when none are kept for these sources, or not all of them are
   * there any more. The folder is then empty.
   */
  readonly restore: (folder: string) => boolean;
  /**
   * Keeps the folder's files for the next time, unless a source has changed since. Nobody may write into one of them
   * from then on; all of them may be removed. Where the cache cannot be written, nothing is kept.
   */
  readonly keep: (folder: string) => void;
}

interface Origin {
  /** Files and folders, named from the root of the project. One that does not exist is a source too. */
  readonly sources: readonly string[];
  /** Further input that the folder depends on. */
  readonly settings?: string;
  /** The root of the project. */
  readonly project?: string;
}

/**
 * A folder that depends on the current sources, the version of Node.js, and settings, if any. Each run gets one of its
 * own, so that it does not depend on what other runs make or remove.
 */
export function keptFolder(name: string, origin: Origin): KeptFolder {
  const { project = root } = origin;
  const cache = cacheOf(project);
  const digest = digestOf(project, origin);
  const entry = `${name}-${digest}`;
  const kept = join(cache, entry);
  return {
    restore: (folder) => {
      if (!existsSync(kept)) return false;
      if (restoreWhole(kept, folder)) {
        whereWritable(() => utimesSync(kept, new Date(), new Date()));
        return true;
      }
      for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true });
      whereWritable(() => discard(cache, entry));
      return false;
    },
    keep: (folder) => {
      if (digestOf(project, origin) !== digest) return;
      whereWritable(() => {
        mkdirSync(cache, { recursive: true });
        const copy = join(cache, `.${randomUUID()}`);
        try {
          shareFiles(folder, join(copy, files));
          writeFileSync(join(copy, sizes), sizesIn(folder));
          renameSync(copy, kept);
        } catch (error) {
          rmSync(copy, { recursive: true, force: true });
          // Another run has kept the same, and a third one may have discarded it since.
          if (!hasCode(error, ["EEXIST", "ENOTEMPTY"]) && !existsSync(kept)) throw error;
        }
        discardOld(cache, name);
      });
    },
  };
}

/** What an entry of the cache consists of: the files, and a list of their sizes. */
const [files, sizes] = ["files", "sizes.json"];

/** @returns false if files of the entry are missing, cut or cannot be read; then not all are in the folder. */
function restoreWhole(kept: string, folder: string): boolean {
  try {
    shareFiles(join(kept, files), folder);
    return readFileSync(join(kept, sizes), "utf8") === sizesIn(folder);
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

function sizesIn(folder: string): string {
  return JSON.stringify(filesOf(folder, ".").map((file) => [file, statSync(join(folder, file)).size]));
}

/** The same files in another folder, copied only where they cannot have a second name: on another disk, for example. */
function shareFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [here, there] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) shareFiles(here, there);
    else shareFile(here, there);
  }
}

function shareFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!hasCode(error, ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "ENOSYS"])) throw error;
    copyFileSync(from, to);
  }
}

function digestOf(project: string, { sources, settings = "" }: Origin): string {
  const hash = createHash("sha256").update(process.version).update(`\0${settings}`);
  for (const file of sources.flatMap((source) => filesOf(project, source))) {
    hash.update(`\0${file}\0`).update(
      createHash("sha256")
        .update(readFileSync(join(project, file)))
        .digest(),
    );
  }
  return hash.digest("hex").slice(0, 16);
}

/** Links are skipped: the locks of editors are links without a target. */
function filesOf(project: string, source: string): string[] {
  const path = join(project, source);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found === undefined ? [] : [source];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(project, join(entry.parentPath, entry.name)))
    .sort();
}

/** Removes all but the last folders of a name, and what killed runs have left. */
function discardOld(cache: string, name: string): void {
  const entries = readdirSync(cache).flatMap((entry) => {
    // Another run may have discarded it.
    const found = statSync(join(cache, entry), { throwIfNoEntry: false });
    return found === undefined ? [] : [{ entry, changedAt: found.mtimeMs }];
  });
  const left = entries.filter(
    ({ entry, changedAt }) => entry.startsWith(".") && changedAt < Date.now() - copyingMilliseconds,
  );
  const old = entries
    .filter(({ entry }) => entry.startsWith(`${name}-`))
    .sort((one, other) => other.changedAt - one.changedAt)
    .slice(maxKept);
  for (const { entry } of [...left, ...old]) discard(cache, entry);
}

/** Moves a folder away before it is removed, so that it can be built again. */
function discard(cache: string, entry: string): void {
  const away = join(cache, `.${randomUUID()}`);
  try {
    renameSync(join(cache, entry), away);
  } catch (error) {
    if (hasCode(error, ["ENOENT"])) return;
    throw error;
  }
  rmSync(away, { recursive: true, force: true });
}

/**
 * Writes to the cache, unless the disk is full or read-only, a file is in the place of the cache, or another program
 * removes it meanwhile.
 * @returns whether it was written.
 */
export function whereWritable(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (hasCode(error, ["EACCES", "EDQUOT", "EEXIST", "ENOENT", "ENOSPC", "ENOTDIR", "EPERM", "EROFS"]))
      return false;
    throw error;
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
