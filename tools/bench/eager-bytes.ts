import type { Metafile } from "esbuild";

/** Bytes Node reads before a bundle's handler can be called: its entry and all that it imports statically. */
export function eagerBytes({ outputs }: Metafile): number {
  const entries = Object.keys(outputs).filter((path) => /\/index-\w+\.mjs$/.test(path));
  if (entries.length !== 1) throw new Error("not the metafile of one bundle");
  const reached = new Set(entries);
  for (const path of reached) {
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === "import-statement" && external !== true) reached.add(imported);
    }
  }
  return [...reached].reduce((bytes, path) => bytes + (outputs[path]?.bytes ?? Number.NaN), 0);
}
