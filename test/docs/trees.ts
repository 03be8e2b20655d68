import { existsSync } from "node:fs";

/**
 * The files and folders that a drawn tree names and that do not exist. A line begins with a folder or a file, two
 * spaces deeper than the folder it is in; after two spaces follow words of explanation, or names of the folder's files
 * without their ending. A deeper line goes on with the line before.
 */
export function missingFrom(tree: string): readonly string[] {
  const missing: string[] = [];
  const path: string[] = [];
  for (const line of tree.split("\n").filter((text) => text.trim() !== "")) {
    const depth = (/^ */.exec(line)?.[0].length ?? 0) / 2;
    const isDeeper = depth > path.length;
    const [first = "", ...others] = line.trim().split(/\s{2,}/);
    if (!isDeeper) path.length = depth;
    const parent = path.join("");
    if (!isDeeper && first.endsWith("/")) path.push(first);
    const names = isDeeper ? [first, ...others] : [first];
    if (!isDeeper && others.every((word) => /^[a-z][a-z-]*\/?$/.test(word))) {
      const isList = others.length > 0 && others[0]?.endsWith("/");
      for (const word of others) names.push(isList || !first.endsWith("/") ? word : `${first}${word}`);
    }
    missing.push(
      ...names
        .filter((name) => /^[\w./-]+$/.test(name) && !isThere(parent, name))
        .map((name) => `${parent}${name}`),
    );
  }
  return missing;
}

function isThere(parent: string, name: string): boolean {
  return [name, `${name}.ts`].some((file) => existsSync(`${parent}${file}`));
}
