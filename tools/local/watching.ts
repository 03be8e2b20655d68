import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../..", import.meta.url));

/** Folders of what a running service consists of, from the root of the project. */
export const watched = ["functions", "shared", "infra", "console"];

/** Files that are read; those that editors write beside them are not. */
const isSource = /^[^.].*\.(?:css|html|json|mjs|svg|ts|webp)$/;

/** Editors write a file in several steps, and some write several files at once. */
const quietMilliseconds = 100;

/** What watches; `close` ends it. */
export interface Watching {
  close(): void;
}

/**
 * Calls back with the files that have changed, named from the root of the project, and waits for the callback before the
 * next one. Each folder is watched by itself, since a file that an editor replaces by renaming is another one to the
 * system.
 */
export function watchSources(
  onChange: (files: readonly string[]) => Promise<void>,
  root = project,
): Watching {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;

  const tell = async () => {
    timer = undefined;
    if (isBusy || changed.size === 0) return;
    isBusy = true;
    const files = [...changed].sort();
    changed.clear();
    await onChange(files);
    isBusy = false;
    await tell();
  };
  const note = (folder: string, name: string | null) => {
    if (name === null) return;
    watchFolders();
    if (!isSource.test(name)) return;
    changed.add(relative(root, join(folder, name)));
    clearTimeout(timer);
    timer = setTimeout(() => void tell(), quietMilliseconds);
  };
  const watchFolders = () => {
    const folders = new Set(watched.flatMap((name) => foldersIn(join(root, name))));
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of folders) {
      if (watchers.has(folder)) continue;
      const watcher = watch(folder, (_, name) => note(folder, name));
      // A folder that goes is no longer watched after the event of its parent.
      watcher.on("error", () => watcher.close());
      watchers.set(folder, watcher);
    }
  };
  watchFolders();
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function foldersIn(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return [folder, ...inside.map((entry) => join(entry.parentPath, entry.name))];
}
