import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** A link to a file of the project. */
const link = /\]\((?![a-z]+:|#)([^)#\s]+)/g;

/** A file, or a folder with a slash at its end, by its path from the project's root. */
const path =
  /`((?:client|console|docs|events|functions|infra|shared|test|tools)\/(?:[^`\s<>…*{}]*\/)?(?:[^`\s<>…*{}/]+\.[a-z]+)?)`/g;

/** Files that a Markdown text links to, or names by their path from the project's root, and that are not there. */
export function missingPaths(text: string, root: string, document: string): readonly string[] {
  const linked = [...text.matchAll(link)].map(([, to = ""]) => join(dirname(document), to));
  const named = [...text.matchAll(path)].map(([, to = ""]) => to);
  return [...new Set([...linked, ...named])].filter((file) => !existsSync(join(root, file)));
}
