import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { defaultMaps } from "../build.ts";
import type { Print } from "./print.ts";

/** `ncs explain-trace`: the places of a logged cause in the sources. */
export function addExplainTrace(command: Command, print: Print): void {
  command
    .option("--maps <folder>", "where `npm run build` of that release left its source maps", defaultMaps)
    .action(async ({ maps }: { maps: string }) => {
      print(await explainTrace(await text(process.stdin), maps));
    });
}

/** A place in a file of a bundle, in which a hash names the file's content. */
const place = /(?:file:\/\/)?[^\s()"]*?((?:index|[\w-]+)-[A-Z0-9]{8}\.mjs):(\d+):(\d+)/g;

/**
 * Replaces the places in bundles by those in the sources, from the root of the project.
 * @param trace stack frames, or a whole log line that holds them as JSON.
 * @throws {Error} naming a file whose source map is not in the folder.
 */
export async function explainTrace(trace: string, maps: string): Promise<string> {
  const lines = trace.replaceAll("\\n", "\n");
  const files = new Set([...lines.matchAll(place)].map(([, file = ""]) => file));
  const known = new Map<string, SourceMap>();
  for (const file of files) known.set(file, await sourceMapOf(file, maps));
  return lines.replaceAll(place, (whole, file: string, line: string, column: string) => {
    const found = known.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !("originalSource" in found)) return whole;
    const source = found.originalSource.replace(/^(?:\.\.\/)+/, "");
    return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

async function sourceMapOf(file: string, maps: string): Promise<SourceMap> {
  const json = await readFile(join(maps, `${file}.map`), "utf8").catch(() => {
    throw new Error(
      `${maps} has no map of ${file}: check out the release that was deployed, and run npm ci and npm run build`,
    );
  });
  return new SourceMap(JSON.parse(json));
}
