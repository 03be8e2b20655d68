import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build } from "esbuild";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const tests = resolve(import.meta.dirname, "..");
const templates = pathIn(resolve(tests, "infra/template.ts"));
const service = pathIn(resolve(tests, "support/service.ts"));
/** Programs of the project that a test starts build what the shared service builds, unless that has done so. */
const programs = "node:child_process";

/**
 * Seconds of files that take long for their size, as measured on two busy processors, those in a browser whole, most
 * others sampled: a run without results of an earlier one would begin some of them last.
 */
const durations: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(resolve(tests, "support/durations.json"), "utf8"),
);
const secondsOf = ({ moduleId }: TestSpecification) => durations[pathIn(moduleId)] ?? 0;

/**
 * Longest files first, and then Vitest's order, by size, but for this: a run begins with a file that looks at templates,
 * for which the shared service is started, and with the files that need no service. While one thread waits for it, the
 * others work.
 */
export class WithoutServiceFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    const sorted = bySize.toSorted((one, other) => secondsOf(other) - secondsOf(one));
    const imports = await importsOf(sorted.map(({ moduleId }) => moduleId));
    const importing = (module: string) =>
      sorted.filter(({ moduleId }) => imports.get(moduleId)?.has(module) === true);
    const first = [...importing(templates), ...importing(service)].slice(0, 1);
    const later = new Set([templates, service, programs].flatMap(importing));
    const others = sorted.filter((file) => !first.includes(file));
    return [
      ...first,
      ...others.filter((file) => !later.has(file)),
      ...others.filter((file) => later.has(file)),
    ];
  }
}

/** A module of the project as esbuild names it. */
function pathIn(module: string): string {
  return relative(process.cwd(), module);
}

/** What some tests import, themselves or by other modules in the folder of tests. */
async function importsOf(modules: readonly string[]): Promise<Map<string, ReadonlySet<string>>> {
  const { metafile } = await build({
    entryPoints: [...modules],
    outdir: "node_modules/.cache",
    write: false,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    packages: "external",
    external: ["functions", "shared", "infra", "tools", "console", "client"].map((folder) =>
      resolve(folder, "*"),
    ),
    metafile: true,
    logLevel: "error",
  });
  const found = (path: string, paths = new Set<string>()): Set<string> => {
    for (const { path: imported } of metafile.inputs[path]?.imports ?? []) {
      if (!paths.has(imported)) found(imported, paths.add(imported));
    }
    return paths;
  };
  return new Map(modules.map((module) => [module, found(pathIn(module))]));
}
