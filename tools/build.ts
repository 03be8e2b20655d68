import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildResult, build } from "esbuild";
import { defaultBundles, functionIds, handlerFile } from "../infra/bundles.ts";

/** Bundles one file into `index.mjs` of a folder. Returns esbuild's metadata of the bundle. */
export async function bundle(file: string, outdir: string): Promise<BuildResult<{ metafile: true }>> {
  await rm(outdir, { recursive: true, force: true });
  return await build({
    entryPoints: { index: file },
    outdir,
    bundle: true,
    format: "esm",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: "node20",
    // The SDK's packages come in both forms; only the ESM one lets esbuild leave out what is not used.
    mainFields: ["module", "main"],
    splitting: true,
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
}

/** Bundles every function into a folder of its own below `bundles`, in the order of `functionIds`. */
export async function buildFunctions(
  bundles: string = defaultBundles,
): Promise<BuildResult<{ metafile: true }>[]> {
  return await Promise.all(functionIds.map((id) => bundle(handlerFile(id), join(bundles, id))));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildFunctions();
