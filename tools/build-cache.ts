/** What takes seconds to make and follows from files of the project alone is kept until one of them changes. */
import { createHash, randomUUID } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const cache = join(project, "node_modules", ".cache", "network-capabilities");

/** Of each name so many are kept: those that were used last. */
const maxKept = 4;

/** A folder that can be made again. */
export interface KeptFolder {
  /** Copies what was made before into an empty folder; `false` when nothing was made from these sources yet. */
  readonly restore: (folder: string) => boolean;
  /** Keeps a copy of what was made, for the next time. */
  readonly keep: (folder: string) => void;
}

/**
 * A folder that follows from sources: files and folders of the project, named from its root, and the version of
 * Node.js; and from settings, if any. Copies are handed out, so that a run keeps its own whatever is made or thrown away meanwhile.
 */
export function keptFolder(name: string, sources: readonly string[], settings = ""): KeptFolder {
  const kept = join(cache, `${name}-${digestOf(sources, settings)}`);
  return {
    restore: (folder) => {
      if (!existsSync(kept)) return false;
      utimesSync(kept, new Date(), new Date());
      cpSync(kept, folder, { recursive: true });
      return true;
    },
    keep: (folder) => {
      const copy = `${kept}.${randomUUID()}`;
      mkdirSync(cache, { recursive: true });
      cpSync(folder, copy, { recursive: true });
      // Whoever comes second keeps the same.
      if (existsSync(kept)) rmSync(copy, { recursive: true });
      else renameSync(copy, kept);
      discardOld(name);
    },
  };
}

function digestOf(sources: readonly string[], settings: string): string {
  const hash = createHash("sha256").update(process.version).update(settings);
  for (const file of sources.flatMap(filesOf)) {
    hash.update(`\0${file}\0`).update(readFileSync(join(project, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

function filesOf(source: string): string[] {
  if (!statSync(join(project, source)).isDirectory()) return [source];
  return readdirSync(join(project, source), { recursive: true, encoding: "utf8" })
    .map((file) => join(source, file))
    .filter((file) => statSync(join(project, file)).isFile())
    .sort();
}

function discardOld(name: string): void {
  const kept = readdirSync(cache)
    .filter((folder) => folder.startsWith(`${name}-`))
    .map((folder) => ({ path: join(cache, folder), usedAt: statSync(join(cache, folder)).mtimeMs }))
    .sort((one, other) => other.usedAt - one.usedAt);
  for (const { path } of kept.slice(maxKept)) rmSync(path, { recursive: true, force: true });
}
