import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cachedFolder } from "../../tools/build-cache.ts";
import { demoSources } from "../../tools/local/demo-tables.ts";
import { pageSources } from "../../tools/local/pages.ts";
import { bundleSources } from "../../tools/made-bundles.ts";
import { runs } from "../support/sample.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "build-cache-"));
  mkdirSync(join(project, "sources"));
  writeFileSync(join(project, "sources", "one.ts"), "1");
});
afterEach(() => rmSync(project, { recursive: true }));

const cached = (settings = "") =>
  cachedFolder("made", { sources: ["sources", "lock.json"], settings, project });

function store(content: string, folder = cached()): void {
  const path = mkdtempSync(join(project, "folder-"));
  writeFileSync(join(path, "file"), content);
  folder.store(path);
}

/** The content of the file that is restored, if one is. */
function restored(settings = ""): string | undefined {
  const path = mkdtempSync(join(project, "folder-"));
  const isRestored = cached(settings).restore(path);
  expect(readdirSync(path)).toEqual(isRestored ? ["file"] : []);
  return isRestored ? readFileSync(join(path, "file"), "utf8") : undefined;
}

test("a cached folder is restored for the same sources and settings only", () => {
  expect(restored()).toBeUndefined();
  store("first");
  expect(restored()).toBe("first");
  expect(restored("other")).toBeUndefined();
});

test.each<[string, () => void]>([
  ["is changed", () => writeFileSync(join(project, "sources", "one.ts"), "2")],
  ["is added", () => writeFileSync(join(project, "sources", "two.ts"), "")],
  ["that was missing is there", () => writeFileSync(join(project, "lock.json"), "")],
  ["is removed", () => rmSync(join(project, "sources", "one.ts"))],
])(
  "a cached folder is not restored, and one that is being made not stored, when a source %s",
  (_, change) => {
    store("first");
    const before = cached("being made");
    change();
    store("second", before);
    expect([restored(), restored("being made")]).toEqual([undefined, undefined]);
  },
);

test("a cached folder is restored whole or not at all while four programs store and discard folders", async () => {
  const contents = `
    import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
    import { cachedFolder } from "../../tools/build-cache.ts";
    const [project] = process.argv.slice(2);
    let restored = 0;
    for (let round = 0; round < ${runs(40, 15)}; round++) {
      const cached = cachedFolder("made", { sources: ["sources"], settings: String(round % 7), project });
      const path = mkdtempSync(project + "/run-");
      if (cached.restore(path)) restored += 1;
      else {
        if (readdirSync(path).length > 0) throw new Error("half a folder was left");
        for (let file = 0; file < 20; file++) writeFileSync(path + "/" + file, "");
        cached.store(path);
      }
      if (readdirSync(path).length !== 20) throw new Error("half a folder was restored");
      rmSync(path, { recursive: true });
    }
    console.log(restored);`;
  const outfile = join(project, "run.mjs");
  const stdin = { contents, resolveDir: join(repository, "test", "tools") };
  // Compiled once, and not by each of the runs.
  await build({ stdin, outfile, bundle: true, platform: "node", format: "esm" });
  const programs = [1, 2, 3, 4].map(async () => {
    const child = spawn(process.execPath, [outfile, project], { cwd: repository });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return stdout + stderr;
  });

  for (const output of await Promise.all(programs)) expect(output).toMatch(/^\d+\n$/);
});

test("a changed line of a handler builds the bundles again, and neither the map nor the demo data", () => {
  const handler = "functions/qos-profiles/retrieve.ts";
  const depends = (sources: readonly string[], file: string) =>
    sources.some((source) => file === source || file.startsWith(`${source}/`));
  expect([bundleSources(), pageSources(), demoSources()].map((sources) => depends(sources, handler))).toEqual(
    [true, false, false],
  );
  expect(depends(demoSources(), "functions/population-density/tiles/store.ts")).toBe(true);
  expect(depends(pageSources(), "functions/population-density/cover/polygon.ts")).toBe(true);
});
