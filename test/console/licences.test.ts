import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { licencesOf, nameOf, packagesIn, packagesOf } from "../../tools/console/licences.ts";
import { sharedPages } from "../support/service.ts";

const pages = await sharedPages();
const root = fileURLToPath(new URL("../../", import.meta.url));

test("every package of which the page's bundle has anything is among its licences, with the text", async () => {
  const { metafile } = await build({
    entryPoints: [join(root, "console/main.ts")],
    outdir: root,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: "esm",
    loader: { ".webp": "dataurl" },
    define: { assetNames: "{}" },
  });

  const names = packagesIn(metafile).map(nameOf);

  expect(names).toEqual(expect.arrayContaining(["fflate", "maplibre-gl", "marked", "pmtiles"]));
  const parts = publishedLicences();
  expect([...parts.keys()]).toEqual(expect.arrayContaining([...names, "world-atlas"]));
  expect([...parts].filter(([, text]) => !/copyright|unlicense|public domain/i.test(text))).toEqual([]);
});

test("packages that MapLibre's authors bundled into it are among the licences, in its own version", () => {
  const parts = publishedLicences();

  expect([...parts.keys()]).toEqual(
    expect.arrayContaining(["earcut", "gl-matrix", "kdbush", "murmurhash-js", "pbf"]),
  );
});

test("packages are told by the last node_modules of a file, with their scope", () => {
  const files = ["/a/node_modules/b/c.js", "/a/node_modules/b/node_modules/@d/e/f/g.js", "/a/console/h.ts"];

  expect(packagesOf(files)).toEqual(["/a/node_modules/b", "/a/node_modules/b/node_modules/@d/e"]);
});

test("a package without a licence stops the build, by name", async () => {
  // A folder of types of Vitest's, which is no package.
  const folder = join(root, "node_modules/vitest/dist");

  await expect(licencesOf([folder])).rejects.toThrow(
    "vitest/dist is in the page's assets and has no licence",
  );
});

/** The licences that the page links to, by their packages. */
function publishedLicences(): ReadonlyMap<string, string> {
  const folder = join(pages, "assets");
  const file = readdirSync(folder).find((name) => name.startsWith("licences-")) ?? "";
  const text = gunzipSync(readFileSync(join(folder, file))).toString();
  return new Map(text.split("\n----\n\n").map((part) => [part.split("\n", 1)[0] ?? "", part]));
}
