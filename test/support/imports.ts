import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, normalize } from "node:path/posix";

/** An import, a dynamic import or a re-export, as it is written. */
export interface Import {
  readonly from: string;
  /** A file of the project from its root, or what a package or a module of Node.js is asked for. */
  readonly to: string;
  /** Whether it is written with a path, so that `to` is a file of the project. */
  readonly toFile: boolean;
  /** Gone when the program runs. */
  readonly typeOnly: boolean;
}

const folders = ["client", "functions", "shared", "infra", "console", "tools", "test"];

/** Every TypeScript file of the project. */
export const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts") && !file.startsWith("client/node_modules/")),
);

const statementPattern =
  /^(?:import|export)\s+(?:(?<type>type)\s+(?!from\b))?(?<names>(?:[\w$*\s,]|\{[^}]*\})*?)\s*from\s*["'](?<target>[^"'\n]+)["']/gm;
const sideEffectPattern = /^import\s*["'](?<target>[^"'\n]+)["']/gm;
const callPattern = /(?<!["'`.\w])(?<keyword>import|require)\(\s*(?<argument>[^)]*?)\s*\)/g;

/** Reads what a file imports. */
function importsOf(file: string): Import[] {
  const source = withoutComments(readFileSync(file, "utf8"));
  const statements = [...source.matchAll(statementPattern)].map(({ groups = {} }) => ({
    target: groups.target ?? "",
    typeOnly: groups.type !== undefined || onlyTypes(groups.names ?? ""),
  }));
  const sideEffects = [...source.matchAll(sideEffectPattern)].map(({ groups = {} }) => ({
    target: groups.target ?? "",
    typeOnly: false,
  }));
  const calls = [...source.matchAll(callPattern)].map(({ groups = {} }) => ({
    target: /^["'`]([^"'`$]+)["'`]/.exec(groups.argument ?? "")?.[1] ?? computed,
    typeOnly: false,
  }));
  return [...statements, ...sideEffects, ...calls].map(({ target, typeOnly }) => ({
    from: file,
    to: target.startsWith(".") ? normalize(join(file, "..", target)) : target,
    toFile: target.startsWith("."),
    typeOnly,
  }));
}

/** What a dynamic import of anything but a literal leads to. */
export const computed = "(computed)";

/** Comments in a line of their own: an import line never has another. */
function withoutComments(source: string): string {
  return source.replaceAll(/^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)$/gm, "");
}

/** Whether each name in braces is a type, as in `{ type A, type B }`. */
function onlyTypes(names: string): boolean {
  const [, list] = /^\{([^}]*)\}$/.exec(names.trim()) ?? [];
  const each = (list ?? "").split(",").filter((name) => name.trim() !== "");
  return each.length > 0 && each.every((name) => /^\s*type\s/.test(name));
}

/** Every import of the project. */
export const imports = files.flatMap(importsOf);

/** Whether an import is of a package, from a registry. */
export function isPackage({ to, toFile }: Import): boolean {
  return !toFile && !isBuiltin(to) && to !== computed;
}

/** The name of the package that an import is of. */
export function packageOf(to: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? "";
}

/** Imports as the lines of a failed test. */
export function shown(found: readonly Import[]): readonly string[] {
  return found.map(({ from, to }) => `${from} imports ${to}`);
}

/** Imports from files of one kind that lead where they must not. */
export function wrongImports(
  from: (file: string) => boolean,
  isWrong: (found: Import) => boolean,
): readonly string[] {
  return shown(imports.filter((found) => from(found.from) && isWrong(found)));
}

/** Where the imports of each file lead. */
function targetsOf(along: readonly Import[]): (from: string) => readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of along) targets.set(from, [...(targets.get(from) ?? []), to]);
  return (from) => targets.get(from) ?? [];
}

const imported = targetsOf(imports);
const run = targetsOf(imports.filter(({ typeOnly }) => !typeOnly));

/** Everything that runs because a file is loaded. */
export function loadedBy(file: string): ReadonlySet<string> {
  return reachedFrom(file, run);
}

/** Everything that a file knows, types included. */
export function knownTo(file: string): ReadonlySet<string> {
  return reachedFrom(file, imported);
}

function reachedFrom(
  file: string,
  along: (from: string) => readonly string[],
  reached = new Set<string>(),
): Set<string> {
  for (const to of along(file)) {
    if (reached.has(to)) continue;
    reached.add(to);
    reachedFrom(to, along, reached);
  }
  return reached;
}

/**
 * Circles among the folders directly below a folder: each folder that imports another one from which imports lead back.
 * Files of the folder itself are its `.`.
 */
export function circlesAmongRooms(folder: string): readonly string[] {
  const roomOf = (file: string) =>
    file.startsWith(`${folder}/`)
      ? (/^([^/]+)\//.exec(file.slice(folder.length + 1))?.[1] ?? ".")
      : undefined;
  const between = imports.flatMap(({ from, to, toFile, typeOnly }) => {
    const [room, other] = [roomOf(from), toFile ? roomOf(to) : undefined];
    if (room === undefined || other === undefined || room === other) return [];
    return [{ from: room, to: other, toFile, typeOnly, line: `${from} imports ${to}` }];
  });
  const along = targetsOf(between);
  return between.filter(({ from, to }) => reachedFrom(to, along).has(from)).map(({ line }) => line);
}
