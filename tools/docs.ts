import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { schemaTypes } from "../client/generate-schema.ts";
import { areas, endpoints } from "../functions/areas.ts";
import packageJson from "../package.json" with { type: "json" };
import { deliveryCheck } from "./docs/delivery-check.ts";
import { withEndpointTable } from "./docs/endpoint-table.ts";
import { httpRequests } from "./docs/http-requests.ts";
import { openApiDocument, withoutAliases } from "./docs/openapi.ts";

const { values: options } = parseArgs({
  options: {
    /** Writes nothing; fails when a file differs from what would be written. */
    check: { type: "boolean", default: false },
    readme: { type: "string", default: inProject("README.md") },
  },
});

/** A file with generated text, made from the declarations and the file's current text. */
interface GeneratedFile {
  readonly path: string;
  readonly textAfter: (before: string | undefined) => string | Promise<string>;
}

const canonical = openApiDocument(withoutAliases(areas), packageJson.version);

const files: readonly GeneratedFile[] = [
  {
    path: inProject("docs/openapi.json"),
    textAfter: () => `${JSON.stringify(openApiDocument(areas, packageJson.version), null, 2)}\n`,
  },
  {
    path: inProject("docs/openapi-canonical.json"),
    textAfter: () => `${JSON.stringify(canonical, null, 2)}\n`,
  },
  { path: inProject("docs/requests.http"), textAfter: () => httpRequests(canonical) },
  { path: inProject("client/schema.d.ts"), textAfter: () => schemaTypes(canonical) },
  { path: inProject("client/is-delivery.ts"), textAfter: () => deliveryCheck(canonical) },
  {
    path: options.readme,
    textAfter: (before) => {
      if (before === undefined) throw new Error("the file does not exist");
      return withEndpointTable(before, endpoints);
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
  if (options.check && changed.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
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
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
