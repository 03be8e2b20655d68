import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));

/**
 * A file of the project and those that it imports, directly or not, named from the root. Read from the lines of imports,
 * which takes some milliseconds, so that what is cached depends on nothing else.
 */
export function importedFiles(entry: string): readonly string[] {
  const found = new Set([join(project, entry)]);
  for (const file of found) {
    const source = readFileSync(file, "utf8");
    for (const [, path = ""] of source.matchAll(/(?:from|import\(?)\s*"(\.{1,2}\/[^"]+)"/g)) {
      const imported = join(dirname(file), path);
      if (existsSync(imported)) found.add(imported);
    }
  }
  return [...found].map((file) => relative(project, file).replaceAll("\\", "/"));
}
