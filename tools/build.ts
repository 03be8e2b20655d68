import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildResult, build } from "esbuild";
import { consoleWebsite } from "../functions/console/website.ts";
import { bundledIds, defaultBundles, handlerFile } from "../infra/bundles.ts";
import { consoleFiles } from "./build-console.ts";

/**
 * Where `npm run build` adds the source maps of each file of a bundle, by the file's name. The names of the files have
 * the hash of their content, so that the maps of all releases can be in one folder. They are not deployed.
 */
export const defaultMaps = fileURLToPath(new URL("../dist/maps", import.meta.url));

/** What esbuild takes for the bundle's folder: a source map has the same paths wherever the bundle is written. */
const namedFolder = join(defaultBundles, "area", "operation");

/**
 * Bundles one file into a folder. Its `index.mjs` exports what the file `index-<hash>.mjs` does.
 * @param maps the folder to which source maps are added; none are made if absent.
 * @returns esbuild's metadata of the bundle.
 */
export async function bundle(
  file: string,
  outdir: string,
  maps?: string,
): Promise<BuildResult<{ metafile: true; write: false }>> {
  await rm(outdir, { recursive: true, force: true });
  const made = await build({
    entryPoints: { index: file },
    entryNames: "[name]-[hash]",
    outdir: namedFolder,
    write: false,
    bundle: true,
    format: "esm",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: "node20",
    // The SDK's packages come in both forms; only the ESM one lets esbuild leave out what is not used.
    mainFields: ["module", "main"],
    splitting: true,
    minify: true,
    sourcemap: "external",
    sourcesContent: false,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  await mkdir(outdir, { recursive: true });
  if (maps !== undefined) await mkdir(maps, { recursive: true });
  const files = made.outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  const entry = files.find(({ name }) => /^index-\w+\.mjs$/.test(name))?.name;
  await writeFile(join(outdir, "index.mjs"), `export * from ${JSON.stringify(`./${entry}`)};`);
  for (const { name, contents } of files) {
    const folder = name.endsWith(".map") ? maps : outdir;
    if (folder !== undefined) await writeFile(join(folder, name), contents);
  }
  return made;
}

/**
 * Bundles every function into a folder of its own below `bundles`, in the order of `bundledIds`, and puts the pages of the
 * console beside the function that serves them.
 */
export async function buildFunctions(
  bundles: string = defaultBundles,
  maps?: string,
): Promise<BuildResult<{ metafile: true; write: false }>[]> {
  const bundling = Promise.all(bundledIds.map((id) => bundle(handlerFile(id), join(bundles, id), maps)));
  const [made, files] = await Promise.all([bundling, consoleFiles()]);
  const folder = join(bundles, consoleWebsite.id, "console");
  await mkdir(join(folder, "assets"), { recursive: true });
  await Promise.all([...files].map(([name, content]) => writeFile(join(folder, name), content)));
  return made;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await buildFunctions(defaultBundles, defaultMaps);
}
