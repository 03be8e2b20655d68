import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, normalize } from "node:path/posix";

/** An import, a dynamic import or a re-export of a source file. */
export interface Import {
  readonly from: string;
  /** A file of the project from its root, or the specifier of a package or a module of Node.js. */
  readonly to: string;
  /** Whether the specifier is a path, so that `to` is a file of the project. */
  readonly toFile: boolean;
  /** Whether only types are imported, so that nothing is loaded. */
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

/** Stands for the target of a dynamic import whose argument is not a literal. */
export const computed = "(computed)";

/** Removes comments on lines of their own; lines with imports have no others. */
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
const imports = files.flatMap(importsOf);

/** Whether an import is of a package, from a registry. */
export function isPackage({ to, toFile }: Import): boolean {
  return !toFile && !isBuiltin(to) && to !== computed;
}

/** The name of the package that an import is of. */
export function packageOf(to: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? "";
}

/** A line for each import, as a failed test shows it. */
function shown(found: readonly Import[]): readonly string[] {
  return found.map(({ from, to }) => `${from} imports ${to}`);
}

/** The forbidden imports among those of certain files. */
export function wrongImports(
  from: (file: string) => boolean,
  isWrong: (found: Import) => boolean,
): readonly string[] {
  return shown(imports.filter((found) => from(found.from) && isWrong(found)));
}

/** The targets of each file's imports. */
function targetsOf(along: readonly Import[]): (from: string) => readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of along) targets.set(from, [...(targets.get(from) ?? []), to]);
  return (from) => targets.get(from) ?? [];
}

const imported = targetsOf(imports);
const run = targetsOf(imports.filter(({ typeOnly }) => !typeOnly));

/** Every module that is loaded with a file. */
export function loadedBy(file: string): ReadonlySet<string> {
  return reachedFrom(file, run);
}

/** Every module that a file depends on, including for types. */
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
 * Circular imports among the rooms of a folder, and among those of each room. A room is a folder with all that is below
 * it; the files that a folder holds itself are its room `.`.
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
  const circles = between.filter(({ from, to }) => reachedFrom(to, along).has(from));
  const rooms = [...new Set(files.map(roomOf))].filter((room) => room !== undefined && room !== ".");
  return [
    ...circles.map(({ line }) => line),
    ...rooms.flatMap((room) => circlesAmongRooms(`${folder}/${room}`)),
  ];
}
