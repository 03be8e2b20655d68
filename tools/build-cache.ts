/** A cache of folders that take seconds to make and depend on files of the project only. */
import { createHash, randomUUID } from "node:crypto";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isFileError } from "../shared/import/unreadable.ts";

/** The number of folders that stay for each name: those that were used last. */
const maxFolders = 4;

/** An incomplete copy that is older than this belongs to a run that was killed. */
const copyingMilliseconds = 600_000;

/** The files that determine the packages: wanted and installed ones. */
export const installed = ["package.json", "package-lock.json", "node_modules/.package-lock.json"];

const root = fileURLToPath(new URL("..", import.meta.url));

/** The folder of everything that programs of the project leave for each other. */
export function cacheOf(project = root): string {
  return join(project, "node_modules", ".cache", "network-capabilities");
}

/** A folder that can be made again. */
export interface CachedFolder {
  /**
   * Puts the cached files into an empty folder; `false`, with the folder still empty, when there are none of these sources
   * or another program removes them meanwhile.
   */
  readonly restore: (folder: string) => boolean;
  /**
   * Caches the folder's files for the next time, unless a source has changed since. Nobody may write into one of them from
   * then on; all of them may be removed. Where the cache cannot be written, nothing is stored.
   */
  readonly store: (folder: string) => void;
}

interface Origin {
  /** Files and folders, named from the root of the project. One that does not exist is a source too. */
  readonly sources: readonly string[];
  /** Further input that the folder depends on. */
  readonly settings?: string;
  /** The root of the project. */
  readonly project?: string;
}

/** A folder that depends on the current sources, the version of Node.js, and settings, if any. */
export function cachedFolder(name: string, origin: Origin): CachedFolder {
  const { project = root } = origin;
  const cache = cacheOf(project);
  const digest = digestOf(project, origin);
  const cached = join(cache, `${name}-${digest}`);
  return {
    restore: (folder) => {
      try {
        shareFiles(cached, folder);
        ignoringUnwritable(() => utimesSync(cached, new Date(), new Date()));
        return true;
      } catch (error) {
        if (!isFileError(error)) throw error;
        for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true });
        return false;
      }
    },
    store: (folder) => {
      if (digestOf(project, origin) !== digest) return;
      ignoringUnwritable(() => {
        mkdirSync(cache, { recursive: true });
        const copy = join(cache, `.${randomUUID()}`);
        try {
          shareFiles(folder, copy);
          renameSync(copy, cached);
        } catch (error) {
          rmSync(copy, { recursive: true, force: true });
          // Another run has stored the same.
          if (!hasCode(error, ["EEXIST", "ENOTEMPTY"])) throw error;
        }
        discardOld(cache, name);
      });
    },
  };
}

/** The same files in another folder, copied only where they cannot have a second name: on another disk, for example. */
function shareFiles(from: string, to: string): void {
  const entries = readdirSync(from, { withFileTypes: true });
  mkdirSync(to, { recursive: true });
  for (const entry of entries) {
    const [here, there] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) shareFiles(here, there);
    else if (!isLinked(here, there)) copyFileSync(here, there);
  }
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "ENOSYS"])) return false;
    throw error;
  }
}

function digestOf(project: string, { sources, settings = "" }: Origin): string {
  const hash = createHash("sha256").update(process.version).update(`\0${settings}`);
  // How folders are cached, which an earlier version of this file may have done in another way.
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  for (const file of sources.flatMap((source) => filesOf(project, source))) {
    const content = createHash("sha256").update(readFileSync(join(project, file)));
    hash.update(`\0${file}\0`).update(content.digest());
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
    .slice(maxFolders);
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
 * Writes to the cache, unless the disk is full or read-only, the cache is a file, or another program
 * removes it meanwhile.
 * @returns whether it was written.
 */
export function ignoringUnwritable(write: () => void): boolean {
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
