import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What starts servers, services or programs of its own, or looks at queues, waits more than it computes. */
const waiting =
  /from "(?:node:(?:http|net|child_process)|[./]+(?:support\/)?(?:npm|own-service|started-sample|jobs|use-harness|faulty-endpoint)\.ts)"/;

/** What starts programs that build what the shared service builds, unless that has done so before. */
const building = /\/npm\.ts"|"tools\/invoke\.ts"/;

/** Those that take longest, most of them for their size: without results of an earlier run they would begin late. */
const longest = [
  "population-density/privacy/attack",
  "contract/faults",
  "contract/privacy",
  "tools/subject",
  "tools/kept-start",
  "tools/camara-features",
  "population-density/distributed-import/judged",
  "population-density/import/judge/judgement",
];

const templates = resolve(import.meta.dirname, "../infra/template.ts");
const service = resolve(import.meta.dirname, "service.ts");

/**
 * Vitest's order, longest or else largest files first, with two exceptions. A project begins with a file that looks at
 * templates, for which the shared service is started, and with those that need no service: while one thread waits for
 * it, the others work. And files that wait and files that compute come in turn: while some wait, others use the
 * processors.
 */
export class WaitingInTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort();
    return projects.flatMap((name) => ordered(sorted.filter(({ project }) => project.name === name)));
  }
}

/** The place among the longest, or the one after them. */
function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return rank === -1 ? longest.length : rank;
}

function ordered(files: readonly TestSpecification[]): TestSpecification[] {
  const imports = new Map(files.map((file) => [file, importedBy(file.moduleId)]));
  const needs = (file: TestSpecification, module: string) => imports.get(file)?.has(module) === true;
  const isLater = (file: TestSpecification) => needs(file, service) || building.test(sourceOf(file));
  const first = files.find((file) => needs(file, templates)) ?? files.find((file) => needs(file, service));
  const others = files.filter((file) => file !== first);
  return [
    ...(first === undefined ? [] : [first]),
    ...inTurn(others.filter((file) => !isLater(file))),
    ...inTurn(others.filter((file) => isLater(file))),
  ];
}

function sourceOf({ moduleId }: TestSpecification): string {
  return readFileSync(moduleId, "utf8");
}

function inTurn(files: readonly TestSpecification[]): TestSpecification[] {
  const waits = (file: TestSpecification) => waiting.test(sourceOf(file));
  const own = files.filter((file) => waits(file));
  const others = files.filter((file) => !waits(file));
  const turns = Array.from({ length: Math.max(own.length, others.length) }, (_, turn) => [
    own[turn],
    others[turn],
  ]);
  return turns.flat().filter((file) => file !== undefined);
}

/** A module with those that it imports, directly or not. */
function importedBy(module: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(module)) return found;
  found.add(module);
  for (const imported of importsOf(module)) importedBy(imported, found);
  return found;
}

const known = new Map<string, readonly string[]>();

/** The modules of the project that a module imports itself. */
function importsOf(module: string): readonly string[] {
  const imports =
    known.get(module) ??
    [...readFileSync(module, "utf8").matchAll(/(?:from|import\() ?"(\.[^"]*\.ts)"/g)]
      .map(([, path = ""]) => resolve(dirname(module), path))
      // A fixture may import what is not there.
      .filter((path) => existsSync(path));
  known.set(module, imports);
  return imports;
}
