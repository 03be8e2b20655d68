/** The licences of the packages that are in the page's assets, whose minified files have none. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";

/**
 * The licences of packages that are published without one, as their repositories have them, and those of data in packages
 * that name them elsewhere.
 */
const texts = fileURLToPath(new URL("licences/", import.meta.url));

/** The folders of the packages of which a bundle has anything. */
export function packagesIn({ outputs }: Pick<Metafile, "outputs">): string[] {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  return packagesOf(files.map((file) => resolve(file)));
}

/** The folders of the packages that files are in, as far as they are in one. */
export function packagesOf(files: readonly string[]): string[] {
  const folders = files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/**
 * The names and licences of packages, as one text.
 * @param folders the packages
 * @throws {Error} if one has no licence, neither in its folder nor in `tools/console/licences/`.
 */
export async function licencesOf(folders: readonly string[]): Promise<string> {
  const named = folders.map((folder) => ({ folder, name: nameOf(folder) }));
  named.sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = named.map(
    async ({ folder, name }) => `${name}\n\n${(await licenceOf(folder, name)).trim()}\n`,
  );
  return (await Promise.all(parts)).join("\n----\n\n");
}

/** The name of the package in a folder. */
export function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

async function licenceOf(folder: string, name: string): Promise<string> {
  const own = (await readdir(folder)).find((candidate) => /^(?:licen[cs]e|copying)\b/i.test(candidate));
  const text = join(texts, `${name}.txt`);
  const files = [...(own === undefined ? [] : [join(folder, own)]), ...(existsSync(text) ? [text] : [])];
  if (files.length > 0) return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n");
  throw new Error(`${name} is in the page's assets and has no licence: add its text as ${text}`);
}
