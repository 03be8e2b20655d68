import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildOptions, type BuildResult, context, type Plugin } from "esbuild";
import { consoleWebsite } from "../functions/console/website.ts";
import { bundledIds, defaultBundles, handlerFile } from "../infra/bundles.ts";
import { writeConsole } from "./build-console.ts";

/**
 * Where `npm run build` adds the source maps of each file of a bundle, by the file's name. The names of the files have
 * the hash of their content, so that the maps of all releases can be in one folder. They are not deployed.
 */
export const defaultMaps = fileURLToPath(new URL("../dist/maps", import.meta.url));

/** What esbuild takes for the bundle's folder: a source map has the same paths wherever the bundle is written. */
const namedFolder = join(defaultBundles, "area", "operation");

/** esbuild's result, in memory. */
type Bundled = BuildResult<{ metafile: true; write: false }>;

/** A file, and the folder of its bundle. */
interface Bundle {
  readonly file: string;
  readonly outdir: string;
}

/**
 * Bundles one file into a folder. Its `index.mjs` exports what the file `index-<hash>.mjs` does.
 * @param maps the folder to which source maps are added; none are kept if absent.
 * @returns esbuild's metadata of the bundle.
 */
export async function bundle(file: string, outdir: string, maps?: string): Promise<Bundled> {
  await remove(outdir);
  const [made] = await writeBundles([{ file, outdir }], maps);
  if (made === undefined) throw new Error(`${file} was not bundled`);
  return made;
}

/** Bundles files into folders that do not exist. */
async function writeBundles(bundles: readonly Bundle[], maps?: string): Promise<Bundled[]> {
  const all = await bundleInTurn(bundles.map(({ file }) => file));
  for (const [index, made] of all.entries()) await writeBundle(made, bundles[index]?.outdir ?? "", maps);
  return all;
}

/**
 * Bundles files, in memory. What several of them import is read and parsed once, hence one after the other.
 * @param options to be added to those of every bundle.
 */
export async function bundleInTurn(files: readonly string[], options: BuildOptions = {}): Promise<Bundled[]> {
  // For the esbuild that starts now, a program in Go: collecting garbage would take longer than bundling.
  process.env.GOGC ??= "off";
  process.env.GOMEMLIMIT ??= "512MiB";
  let current = "";
  const currentFile: Plugin = {
    name: "current-file",
    setup: ({ onResolve }) => onResolve({ filter: /^the current file$/ }, () => ({ path: current })),
  };
  const building = await context({
    minifyIdentifiers: true,
    minifySyntax: true,
    minifyWhitespace: true,
    ...options,
    entryPoints: { index: "the current file" },
    plugins: [currentFile, ...(options.plugins ?? [])],
    entryNames: "[name]-[hash]",
    outdir: namedFolder,
    write: false,
    bundle: true,
    format: "esm",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: "node24",
    // The SDK's packages come in both forms; only the ESM one lets esbuild leave out what is not used.
    mainFields: ["module", "main"],
    splitting: true,
    // Made in any case: the names of the files depend on them.
    sourcemap: "external",
    sourcesContent: false,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  try {
    const all: Bundled[] = [];
    for (const file of files) {
      current = file;
      all.push(await building.rebuild());
    }
    return all;
  } finally {
    await building.dispose();
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

async function writeBundle({ outputFiles }: Bundled, outdir: string, maps?: string): Promise<void> {
  await mkdir(outdir, { recursive: true });
  if (maps !== undefined) await mkdir(maps, { recursive: true });
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  const entry = files.find(({ name }) => /^index-\w+\.mjs$/.test(name))?.name;
  await writeFile(join(outdir, "index.mjs"), `export * from ${JSON.stringify(`./${entry}`)};`);
  for (const { name, contents } of files) {
    const folder = name.endsWith(".map") ? maps : outdir;
    if (folder !== undefined) await writeFile(join(folder, name), contents);
  }
}

/**
 * Bundles every function into a folder of its own below `bundles`, in the order of `bundledIds`, and puts the pages of
 * the console next to the function that serves them.
 */
export async function buildFunctions(bundles: string = defaultBundles, maps?: string): Promise<Bundled[]> {
  const bundling = bundledIds.map((id) => ({ file: handlerFile(id), outdir: join(bundles, id) }));
  // Before the pages are written: they are in the folder of a bundle.
  await Promise.all(bundling.map(({ outdir }) => remove(outdir)));
  const pages = writeConsole(join(bundles, consoleWebsite.id, "console"));
  const [made] = await Promise.all([writeBundles(bundling, maps), pages]);
  return made;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder] = process.argv.slice(2);
  await (folder === undefined ? buildFunctions(defaultBundles, defaultMaps) : buildFunctions(folder));
}
