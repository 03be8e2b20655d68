import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { tsc } from "../support/compiler.ts";

const client = fileURLToPath(new URL("../../client", import.meta.url));

test("the client bundles for a browser, without code of Node.js or code made from text", async () => {
  const { outputFiles, warnings } = await build({
    entryPoints: [`${client}/index.ts`],
    bundle: true,
    platform: "browser",
    format: "esm",
    outdir: "out",
    write: false,
    // Names the global where it is used, and not where a text says "Buffer".
    define: { Buffer: "globalOfNode" },
  });
  expect(warnings).toEqual([]);
  expect(outputFiles.length).toBe(1);
  expect(outputFiles[0]?.text).not.toMatch(/\beval\(|new Function|\bglobalOfNode\b/);
});

test("the client compiles with the types of a browser only", async () => {
  expect(await tsc(["--noEmit", "--pretty", "false", "-p", client])).toBe("");
});
