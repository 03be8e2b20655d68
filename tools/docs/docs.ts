import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { schemaTypes } from "../../client/generate-schema.ts";
import { areas, documentedAreas, endpoints } from "../../functions/areas.ts";
import { sandboxTable } from "../../functions/openapi/sandbox.ts";
import packageJson from "../../package.json" with { type: "json" };
import { suppressedArea } from "../../shared/sandbox/numbers.ts";
import { acceptingSinkPath, refusingSinkPath, unreachableSink } from "../../shared/sandbox/sinks.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { firstUseSeconds, publicKeyCacheSeconds } from "../../shared/tokens/token.ts";
import { costBySettings, costTable } from "./cost-table.ts";
import { deliveryCheck } from "./delivery-check.ts";
import { endpointTable } from "./endpoint-table.ts";
import { code, withGeneratedPart, withGeneratedValue } from "./generated-part.ts";
import { llmsText } from "./llms-text.ts";
import { logTable } from "./log-table.ts";
import { missingPaths } from "./missing-paths.ts";
import { canonicalDocument, openApiDocument } from "./openapi.ts";

const { values: options } = parseArgs({
  options: {
    /** Writes nothing; fails when a file differs from what would be written, or leads to a file that is not there. */
    check: { type: "boolean", default: false },
  },
});

/** A file with generated text, made from the declarations and the file's current text. */
interface GeneratedFile {
  readonly path: string;
  readonly textAfter: (before: string | undefined) => string | Promise<string>;
}

const canonical = canonicalDocument(documentedAreas, packageJson.version);

const files: readonly GeneratedFile[] = [
  {
    path: inProject("docs/openapi.json"),
    textAfter: () => `${JSON.stringify(openApiDocument(documentedAreas, packageJson.version), null, 2)}\n`,
  },
  {
    path: inProject("docs/llms.txt"),
    textAfter: async () => {
      // A text for every stage, with a token endpoint or without.
      const document = canonicalDocument(areas, packageJson.version);
      return llmsText(document, await readFile(inProject("docs/quickstart.md"), "utf8"));
    },
  },
  { path: inProject("client/schema.d.ts"), textAfter: () => schemaTypes(canonical) },
  { path: inProject("client/is-delivery.ts"), textAfter: () => deliveryCheck(canonical) },
  {
    path: inProject("docs/behaviour.md"),
    textAfter: (before = "") => {
      return withGeneratedPart(before, "endpoints", endpointTable(endpoints));
    },
  },
  {
    path: inProject("docs/sandbox.md"),
    textAfter: (before = "") => {
      const withNumbers = withGeneratedPart(before, "numbers", sandboxTable());
      const area = ["```json", JSON.stringify(suppressedArea), "```"].join("\n");
      const withArea = withGeneratedPart(withNumbers, "suppressed area", area);
      const withSink = withGeneratedValue(withArea, "accepting sink", code(acceptingSinkPath));
      const withPath = withGeneratedValue(withSink, "refusing sink", code(refusingSinkPath));
      return withGeneratedValue(withPath, "unreachable sink", code(unreachableSink));
    },
  },
  {
    path: inProject("docs/alarms.md"),
    textAfter: (before = "") => {
      return withGeneratedPart(before, "log codes", logTable());
    },
  },
  {
    path: inProject("docs/limits-and-cost.md"),
    textAfter: (before = "") => {
      const withSettings = withGeneratedPart(before, "cost by settings", costBySettings());
      return withGeneratedPart(withSettings, "cost", costTable());
    },
  },
  {
    path: inProject("docs/operating.md"),
    textAfter: (before = "") => {
      const withCache = withGeneratedValue(before, "key cache minutes", publicKeyCacheSeconds / 60);
      return withGeneratedValue(withCache, "first use minutes", firstUseSeconds / 60);
    },
  },
];

try {
  const changed = (await Promise.all(files.map(changeOf))).filter((change) => change !== undefined);
  if (!options.check) await Promise.all(changed.map(({ path, text }) => writeFile(path, text)));
  for (const { path } of changed) {
    const name = relative(process.cwd(), path);
    console.log(options.check ? `${name} is out of date: run npm run docs` : `wrote ${name}`);
  }
  const missing = options.check ? await Promise.all(markdownFiles().map(missingFrom)) : [];
  for (const problem of missing.flat()) console.log(problem);
  if (options.check && changed.length + missing.flat().length > 0) process.exitCode = 1;
  if (options.check) lint();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Lints the OpenAPI document with and without aliases. */
function lint(): void {
  const { path: folder } = temporaryFolder("openapi-");
  const withoutAliases = join(folder, "openapi-canonical.json");
  writeFileSync(withoutAliases, JSON.stringify(canonical));
  const redocly = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
  const documents = [inProject("docs/openapi.json"), withoutAliases];
  const options = { cwd: inProject("."), stdio: "inherit", timeout: 120_000 } as const;
  const { status, error } = spawnSync(process.execPath, [redocly, "lint", ...documents], options);
  if (error !== undefined) throw error;
  if (status !== 0) process.exitCode = 1;
}

/** Every document that people read, from the project's folder. */
function markdownFiles(): readonly string[] {
  const pages = readdirSync(inProject("docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  );
  const names = [...readdirSync(inProject(".")), ...pages];
  return names.map((name) => name.replaceAll("\\", "/")).filter((name) => name.endsWith(".md"));
}

async function missingFrom(document: string): Promise<readonly string[]> {
  const text = await readFile(inProject(document), "utf8");
  return missingPaths(text, inProject("."), document).map(
    (path) => `${document} names ${path}, which is not there`,
  );
}

/** The text that a file should have; undefined when it has it. */
async function changeOf({
  path,
  textAfter,
}: GeneratedFile): Promise<{ path: string; text: string } | undefined> {
  const before = await textOf(path);
  try {
    const text = await textAfter(before);
    return text === before ? undefined : { path, text };
  } catch (error) {
    throw new Error(`${relative(process.cwd(), path)}: ${error instanceof Error ? error.message : error}`);
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function inProject(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
