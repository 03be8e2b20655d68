import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { tsc } from "../support/compiler.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const file = fileURLToPath(new URL("./refused.ts", import.meta.url));
const source = await readFile(file, "utf8");
const lines = source.split("\n");

/** Each mistake with the word that the compiler must name. */
const mistakes = lines.flatMap((line, index) => {
  const [, reason = "", word = ""] = /^\s*\/\/ @ts-expect-error (.*`([^`]+)`.*)$/.exec(line) ?? [];
  return word === "" ? [] : [{ line: index + 2, reason, word }];
});

interface Diagnostic {
  readonly line: number;
  readonly text: string;
}

/** Compiles files with the options of the project; the diagnostics by the name of their file. */
async function compile(files: Readonly<Record<string, string>>): Promise<Record<string, Diagnostic[]>> {
  const folder = await mkdtemp(join(tmpdir(), "network-capabilities-types-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      // Imports of the project lead to the project, wherever the copy lies.
      await writeFile(join(folder, name), text.replaceAll('from "../../', `from "${root}`));
    }
    await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    const configuration = { extends: join(root, "tsconfig.json"), include: [], files: Object.keys(files) };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(configuration));
    const output = await tsc(["--noEmit", "--pretty", "false", "-p", folder]);
    const diagnostics: Record<string, Diagnostic[]> = Object.fromEntries(
      Object.keys(files).map((name) => [name, []]),
    );
    for (const text of output.split(/\n(?=\S)/).filter((one) => one.trim() !== "")) {
      const [, path = "", line] = /^(.+?)\((\d+),\d+\): /.exec(text) ?? [];
      const name = path.split(/[\\/]/).at(-1) ?? "";
      const list = diagnostics[name] ?? [];
      list.push({ line: Number(line), text });
      diagnostics[name] = list;
    }
    return diagnostics;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let diagnostics: Record<string, Diagnostic[]>;

beforeAll(async () => {
  diagnostics = await compile({
    "expected.mts": source,
    "reported.mts": source.replaceAll("@ts-expect-error", "a mistake:"),
  });
});

test("every expected mistake in refused.ts names a word of the compiler's message", () => {
  expect(lines.filter((line) => line.trimStart().startsWith("// @ts-"))).toHaveLength(mistakes.length);
});

test("the compiler refuses every mistake in refused.ts, and nothing beside them", () => {
  expect(diagnostics["expected.mts"]).toEqual([]);
});

test.each(mistakes.map((mistake) => [mistake.line, mistake.reason, mistake] as const))(
  "the compiler refuses line %i of refused.ts: %s",
  (_line, _reason, { line, word }) => {
    const reported = (diagnostics["reported.mts"] ?? []).filter((diagnostic) => diagnostic.line === line);
    expect(reported.map(({ text }) => text).join("\n")).toContain(word);
  },
);
