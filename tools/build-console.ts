/** Makes the console's pages and assets from `console/` and the libraries that it uses. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { constants, gzip, type ZlibOptions } from "node:zlib";
import { build, type Plugin } from "esbuild";
import { groundFiles } from "./console/ground-pieces.ts";
import { licencesOf, nameOf, packagesIn, packagesOf } from "./console/licences.ts";
import { outlines } from "./console/outlines.ts";
import { places } from "./console/places.ts";

const require = createRequire(import.meta.url);
/** In a thread of its own, so that what else this program does goes on meanwhile. */
const compress = promisify<string, ZlibOptions, Buffer>(gzip);
const sources = fileURLToPath(new URL("../console/", import.meta.url));
const program = new URL("demo/subscriber-token.mjs", import.meta.url);

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** An asset as it is before its compression. */
interface Asset {
  /** With the hash of the content, so that browsers may keep it for ever. */
  readonly name: string;
  readonly text: string;
}

function assetOf(file: string, text: string): Asset {
  const extension = extname(file);
  return { name: `${basename(file, extension)}-${hashOf([text])}${extension}`, text };
}

function hashOf(texts: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text);
  return hash.digest("hex").slice(0, 10);
}

/**
 * The files that the console's function serves, by their names: the page, the text for agents, the media types of the
 * assets, and each asset compressed. The same sources give the same bytes.
 */
async function consoleFiles(): Promise<ReadonlyMap<string, string | Buffer>> {
  const map = await mapLibrary();
  const { index, files } = await groundFiles(hashOf);
  const pieces = [...files].map(([name, text]): Asset => ({ name, text }));
  const others = {
    mapShared: map.shared,
    mapWorker: map.worker,
    outlines: assetOf("outlines.json", await outlines()),
    places: assetOf("places.json", await places()),
    pieces: assetOf("pieces.json", JSON.stringify(index)),
    icon: assetOf("icon.svg", await readFile(join(sources, "icon.svg"), "utf8")),
  };
  const names = Object.fromEntries(Object.entries(others).map(([key, { name }]) => [key, name]));
  const bundled = await bundlePage(map, names);
  const packages = new Set([...bundled.packages, ...map.packages, packageOf("world-atlas/package.json")]);
  const licences = assetOf("licences.txt", await licencesOf([...packages]));
  const assets = [...Object.values(others), licences, ...pieces, ...bundled.assets];
  const entry = (pattern: RegExp) => assets.find(({ name }) => pattern.test(name))?.name ?? "";
  const page = (await readFile(join(sources, "index.html"), "utf8"))
    .replace("{style}", entry(/^main-\w+\.css$/))
    .replace("{darkStyle}", entry(/^dark-\w+\.css$/))
    .replace("{script}", entry(/^main-\w+\.js$/))
    .replaceAll("{icon}", others.icon.name)
    .replace("{licences}", licences.name);
  const types = Object.fromEntries(assets.map(({ name }) => [name, mediaTypes[extname(name)]]));
  // One after another: thousands at once need half a gigabyte, and three times the processor time.
  const compressed: [string, Buffer][] = [];
  for (const { name, text } of assets) {
    compressed.push([`assets/${name}.gz`, await compress(text, { level: constants.Z_BEST_COMPRESSION })]);
  }
  return new Map<string, string | Buffer>([
    ["index.html", page],
    ["llms.txt", await readFile(new URL("../docs/llms.txt", import.meta.url), "utf8")],
    ["assets.json", JSON.stringify(types)],
    ...compressed,
  ]);
}

interface BundledPage {
  readonly assets: readonly Asset[];
  /** The folders of the packages in it. */
  readonly packages: readonly string[];
}

/** Bundles the scripts and the style sheet of the pages; what is not needed at once is in files of its own. */
async function bundlePage(map: MapLibrary, names: Readonly<Record<string, string>>): Promise<BundledPage> {
  const { outputFiles, metafile } = await build({
    entryPoints: [
      { in: join(sources, "main.ts"), out: "main" },
      { in: join(sources, "styles/dark.css"), out: "dark" },
    ],
    outdir: sources,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["es2022", "safari16"],
    loader: { ".webp": "dataurl" },
    legalComments: "none",
    logLevel: "warning",
    define: {
      assetNames: JSON.stringify(names),
      tokenProgram: JSON.stringify(await readFile(program, "utf8")),
    },
    plugins: [mapPlugin(map)],
  });
  const assets = outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
  return { assets, packages: packagesIn(metafile) };
}

/** The three modules of MapLibre's distribution. */
interface MapLibrary {
  /** What page and worker have in common; it puts its exports into a global variable. */
  readonly shared: Asset;
  readonly worker: Asset;
  /** The factory of the module that the page uses. */
  readonly factory: string;
  /** The folders of the packages in its distribution, itself included. */
  readonly packages: readonly string[];
}

/**
 * MapLibre's distribution has the code that page and worker share once, and makes the worker's script of it at run
 * time, for which a page must permit scripts from blobs. Its build for strict pages has that code twice. Here each of
 * its three modules becomes a file: both are avoided.
 * @throws {Error} when the distribution has another form than that of the version this was written for.
 */
async function mapLibrary(): Promise<MapLibrary> {
  const file = require.resolve("maplibre-gl/dist/maplibre-gl.js");
  const text = await readFile(file, "utf8");
  const factoryOf = (name: string, parameters: string): string => {
    const start = `define("${name}",[${parameters}],`;
    const line = text.split("\n").find((candidate) => candidate.startsWith(start));
    if (line === undefined || !line.endsWith(");")) {
      throw new Error(`maplibre-gl has no module ${name} in a line of its own`);
    }
    return line.slice(start.length, -2);
  };
  const shared = assetOf(
    "map-shared.js",
    `globalThis.mapShared={};(${factoryOf("shared", '"exports"')})(globalThis.mapShared);`,
  );
  // Next to each other: a worker's script finds another by its name.
  const worker = `importScripts(new URL(${JSON.stringify(shared.name)},self.location).href);`;
  return {
    shared,
    worker: assetOf(
      "map-worker.js",
      `${worker}(${factoryOf("worker", '"./shared"')})(globalThis.mapShared);`,
    ),
    factory: factoryOf("index", '"exports","./shared"'),
    packages: await packagesInDistribution(file),
  };
}

function mapPlugin({ shared, factory }: MapLibrary): Plugin {
  return {
    name: "map",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^maplibre-gl$/ }, () => ({ path: "maplibre-gl", namespace: "map" }));
      onResolve({ filter: /^\.\/map-shared-/ }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /.*/, namespace: "map" }, () => ({
        contents: `import "./${shared.name}";const map={};(${factory})(map,globalThis.mapShared);export default map;`,
      }));
    },
  };
}

/** The packages that a file was bundled from by its authors, as its source map says. */
async function packagesInDistribution(file: string): Promise<string[]> {
  const { sources } = JSON.parse(await readFile(`${file}.map`, "utf8")) as { readonly sources: string[] };
  const bundled = packagesOf(sources.map((source) => join(dirname(file), source)));
  // Their folders at the authors' are below the package; npm may have put them next to it.
  const modules = dirname(packageOf("maplibre-gl/package.json"));
  return bundled.map((folder) => (existsSync(folder) ? folder : join(modules, nameOf(folder))));
}

/** The folder of the package that a file is in. */
function packageOf(file: string): string {
  return packagesOf([require.resolve(file)])[0] ?? "";
}

/** Writes the files that the console's function serves into a folder. */
export async function writeConsole(folder: string): Promise<void> {
  const files = await consoleFiles();
  await mkdir(join(folder, "assets"), { recursive: true });
  await Promise.all([...files].map(([name, content]) => writeFile(join(folder, name), content)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("usage: build-console FOLDER");
  await writeConsole(folder);
}
