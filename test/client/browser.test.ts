import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { tsc } from "../support/compiler.ts";

const client = fileURLToPath(new URL("../../client", import.meta.url));

test("client and receiver bundle for a browser, without code of Node.js or code made from text", async () => {
  const { outputFiles, warnings } = await build({
    entryPoints: [`${client}/index.ts`, `${client}/receiver.ts`],
    bundle: true,
    platform: "browser",
    format: "esm",
    outdir: "out",
    write: false,
    // Names the global where it is used, and not where a text says "Buffer".
    define: { Buffer: "globalOfNode" },
  });
  expect(warnings).toEqual([]);
  expect(outputFiles.length).toBe(2);
  for (const { text } of outputFiles) expect(text).not.toMatch(/\beval\(|new Function|\bglobalOfNode\b/);
});

test("client and receiver compile with the types of a browser only", async () => {
  expect(await tsc(["--noEmit", "--pretty", "false", "-p", client])).toBe("");
});
