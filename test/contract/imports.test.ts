import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, normalize } from "node:path/posix";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { bundledIds, handlerPath } from "../../infra/bundles.ts";

/** An import, a dynamic import or a re-export, as it is written. */
interface Import {
  readonly from: string;
  /** A file of the project from its root, or what a package or a module of Node.js is asked for. */
  readonly to: string;
  /** Whether it is written with a path, so that `to` is a file of the project. */
  readonly toFile: boolean;
  /** Gone when the program runs. */
  readonly typeOnly: boolean;
}

const folders = ["client", "functions", "shared", "infra", "console", "tools", "test"];

const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts") && !file.startsWith("client/node_modules/")),
);

const statementPattern =
  /^(?:import|export)\s+(?:(?<type>type)\s+(?!from\b))?(?<names>(?:[\w$*\s,]|\{[^}]*\})*?)\s*from\s*["'](?<target>[^"'\n]+)["']/gm;
const sideEffectPattern = /^import\s*["'](?<target>[^"'\n]+)["']/gm;
const callPattern = /(?<!["'`.\w])(?<keyword>import|require)\(\s*(?<argument>[^)]*?)\s*\)/g;

/** Reads what a file imports. */
function importsOf(file: string): Import[] {
  const source = withoutComments(readFileSync(file, "utf8"));
  const statements = [...source.matchAll(statementPattern)].map(({ groups = {} }) => ({
    target: groups.target ?? "",
    typeOnly: groups.type !== undefined || onlyTypes(groups.names ?? ""),
  }));
  const sideEffects = [...source.matchAll(sideEffectPattern)].map(({ groups = {} }) => ({
    target: groups.target ?? "",
    typeOnly: false,
  }));
  const calls = [...source.matchAll(callPattern)].map(({ groups = {} }) => ({
    target: /^["'`]([^"'`$]+)["'`]/.exec(groups.argument ?? "")?.[1] ?? computed,
    typeOnly: false,
  }));
  return [...statements, ...sideEffects, ...calls].map(({ target, typeOnly }) => ({
    from: file,
    to: target.startsWith(".") ? normalize(join(file, "..", target)) : target,
    toFile: target.startsWith("."),
    typeOnly,
  }));
}

/** What a dynamic import of anything but a literal leads to. */
const computed = "(computed)";

/** Comments in a line of their own: an import line never has another. */
function withoutComments(source: string): string {
  return source.replaceAll(/^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)$/gm, "");
}

/** Whether each name in braces is a type, as in `{ type A, type B }`. */
function onlyTypes(names: string): boolean {
  const [, list] = /^\{([^}]*)\}$/.exec(names.trim()) ?? [];
  const each = (list ?? "").split(",").filter((name) => name.trim() !== "");
  return each.length > 0 && each.every((name) => /^\s*type\s/.test(name));
}

const imports = files.flatMap(importsOf);

const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
const manifestIn = (file: string) => manifestSchema.parse(JSON.parse(readFileSync(file, "utf8")));
const manifest = manifestIn("package.json");
const clientManifest = manifestIn("client/package.json");

const isProduction = (file: string) => /^(?:functions|shared)\//.test(file);
const isPackage = ({ to, toFile }: Import) => !toFile && !isBuiltin(to) && to !== computed;
const packageOf = (to: string) => /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? "";
const areaOf = (file: string) => /^functions\/([^/]+)\//.exec(file)?.[1];
const handlerFiles = bundledIds.map(handlerPath);
const shown = (found: readonly Import[]) => found.map(({ from, to }) => `${from} imports ${to}`);

/** Imports from files of one kind that lead where they must not. */
const wrong = (from: (file: string) => boolean, isWrong: (found: Import) => boolean) =>
  shown(imports.filter((found) => from(found.from) && isWrong(found)));

/** Where the imports of each file lead. */
function leads(along: readonly Import[]): (from: string) => readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of along) targets.set(from, [...(targets.get(from) ?? []), to]);
  return (from) => targets.get(from) ?? [];
}

const leadsTo = leads(imports);
const runs = leads(imports.filter(({ typeOnly }) => !typeOnly));

/** Everything that runs because a file is loaded. */
function loadedBy(file: string): Set<string> {
  return reachedFrom(file, runs);
}

function reachedFrom(file: string, along = leadsTo, reached = new Set<string>()): Set<string> {
  for (const to of along(file)) {
    if (reached.has(to)) continue;
    reached.add(to);
    reachedFrom(to, along, reached);
  }
  return reached;
}

describe("the reader of imports", () => {
  test("read the project", () => {
    expect(files.length).toBeGreaterThan(80);
    expect(imports.length).toBeGreaterThan(300);
    for (const folder of folders) {
      expect(imports.filter(({ from }) => from.startsWith(`${folder}/`)).length).toBeGreaterThan(15);
    }
    expect(imports.filter(({ typeOnly }) => typeOnly).length).toBeGreaterThan(30);
  });

  test("found the same imports that a compiler finds", async () => {
    const entryPoints = files.filter((file) => /^(?:functions|shared|infra)\//.test(file));
    const { metafile } = await build({
      entryPoints,
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      outdir: "dist",
      write: false,
      metafile: true,
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      logLevel: "silent",
    });
    const compiled = entryPoints.flatMap((file) =>
      (metafile.inputs[file]?.imports ?? []).map(({ path }) => `${file} imports ${path}`),
    );
    const read = shown(imports.filter(({ from, typeOnly }) => entryPoints.includes(from) && !typeOnly));
    expect(compiled.length).toBeGreaterThan(100);
    expect([...new Set(read)].sort()).toEqual([...new Set(compiled)].sort());
  });

  test("followed every import to a file that is there", () => {
    const missing = imports.filter(({ to, toFile }) => toFile && !existsSync(to));
    expect(shown(missing)).toEqual([]);
  });
});

/** The rooms of population density, from the lowest floor to the highest; the files of the area itself are above. */
const densityFloors = [
  ["callers", "cover"],
  ["tiles"],
  ["import", "query"],
  ["capabilities", "delivery", "distributed-import"],
  ["operations"],
];

describe("imports run downhill", () => {
  test("the kernel knows no area, no infrastructure, no tool and no test", () => {
    expect(
      wrong(
        (file) => file.startsWith("shared/"),
        ({ to, toFile }) => (toFile && !to.startsWith("shared/")) || isInfrastructure(to),
      ),
    ).toEqual([]);
  });

  test("sinks know nothing but Node.js, so that every area with callbacks can use them", () => {
    expect(
      wrong(
        (file) => file.startsWith("shared/sinks/"),
        ({ to, toFile }) => (toFile ? !to.startsWith("shared/sinks/") : !isBuiltin(to)),
      ),
    ).toEqual([]);
    expect(imports.filter(({ from }) => from.startsWith("shared/sinks/")).length).toBeGreaterThan(4);
  });

  test("an area knows itself and the kernel, and no other area", () => {
    expect(
      wrong(
        (file) => areaOf(file) !== undefined,
        ({ from, to, toFile }) =>
          (toFile &&
            !to.startsWith("shared/") &&
            areaOf(to) !== areaOf(from) &&
            !isServedDocument(from, to)) ||
          isInfrastructure(to),
      ),
    ).toEqual([]);
  });

  test("the list of areas knows what they declare, and the tables that several use", () => {
    const declares =
      /^functions\/[^/]+\/(?:area|website)\.ts$|^shared\/(?:devices\/table|[a-z-]+-table)\.ts$/;
    expect(
      wrong(
        (file) => file === "functions/areas.ts",
        ({ to }) => !declares.test(to),
      ),
    ).toEqual([]);
    expect(imports.filter(({ from }) => from === "functions/areas.ts").length).toBeGreaterThan(5);
    expect([...loadedBy("functions/areas.ts")].filter(touchesTheWorld)).toEqual([]);
  });

  test("the infrastructure knows the areas and the kernel, no handler, no tool and no test", () => {
    expect(
      wrong(
        (file) => file.startsWith("infra/"),
        ({ to, toFile }) => toFile && !/^(?:infra|shared)\//.test(to) && to !== "functions/areas.ts",
      ),
    ).toEqual([]);
  });

  test("the page of the console knows itself, and of the service the geometry of cells alone", () => {
    const geometry = /^functions\/population-density\/(?:cover\/|import\/cell-area\.ts$)/;
    expect(
      wrong(
        (file) => file.startsWith("console/"),
        ({ to, toFile }) => (toFile ? !to.startsWith("console/") && !geometry.test(to) : isBuiltin(to)),
      ),
    ).toEqual([]);
    expect([...loadedBy("console/main.ts")].filter((file) => geometry.test(file)).length).toBeGreaterThan(2);
    expect(
      wrong(
        (file) => !/^(?:console|test)\//.test(file),
        ({ to }) => to.startsWith("console/"),
      ),
    ).toEqual([]);
  });

  test("nothing but a test knows a test", () => {
    expect(
      wrong(
        (file) => !file.startsWith("test/"),
        ({ to }) => to.startsWith("test/"),
      ),
    ).toEqual([]);
  });

  test("only files of the areas' folders are in the areas", () => {
    const misplaced = files.filter((file) => file.startsWith("functions/") && areaOf(file) === undefined);
    expect(misplaced).toEqual(["functions/areas.ts"]);
    const rooms = files.map((file) => /^functions\/([^/]+\/.+)\//.exec(file)?.[1]);
    const known = densityFloors.flat().map((room) => `population-density/${room}`);
    expect(new Set(rooms.filter((room) => room !== undefined))).toEqual(new Set(known));
  });

  test("the core of deliveries is given what it reaches: stores and sinks are behind its ports", () => {
    const outward = ["job-list-store", "job-store", "permit-store", "send", "service-ports", "worker-ports"];
    const core = files.filter(
      (file) =>
        file.startsWith("functions/population-density/delivery/") &&
        !outward.some((name) => file.endsWith(`/${name}.ts`)) &&
        !handlerFiles.includes(file),
    );
    expect(core.length).toBeGreaterThan(5);
    // Of the log it takes the class of an error; the log has metrics in its lines. Times of calls call nothing.
    const isCalm = (to: string) => /^shared\/aws\/(?:dependency-times|log|metrics)\.ts$/.test(to);
    const isReached = (to: string) => !isCalm(to) && touchesTheWorld(to);
    expect(core.filter((file) => [...loadedBy(file)].some(isReached))).toEqual([]);
  });

  test("an answer at once knows nothing of deliveries", () => {
    const answering = files.filter((file) =>
      /^functions\/population-density\/(?:callers|query|tiles)\//.test(file),
    );
    const known = answering.flatMap((file) => [...reachedFrom(file)]);
    expect(known.length).toBeGreaterThan(50);
    expect(known.filter((file) => file.startsWith("functions/population-density/delivery/"))).toEqual([]);
  });

  test("the cover is geometry: it knows nothing of its area, of the kernel, and of Node.js", () => {
    expect(
      wrong(
        (file) => file.startsWith("functions/population-density/cover/"),
        ({ to, toFile }) =>
          toFile ? !to.startsWith("functions/population-density/cover/") : to !== "robust-predicates",
      ),
    ).toEqual([]);
  });

  test("tiles and deliveries reach the tables through their stores alone", () => {
    const stores = [
      "tiles/store",
      "tiles/data-set-store",
      "import/part-store",
      "callers/stream-store",
      "delivery/job-list-store",
      "delivery/job-store",
      "delivery/permit-store",
    ];
    expect(
      wrong(
        (file) =>
          file.startsWith("functions/population-density/") &&
          !stores.some((store) => file === `functions/population-density/${store}.ts`),
        ({ to }) => /^shared\/aws\/(?:database|database-client|query-newest)\.ts$/.test(to),
      ),
    ).toEqual([]);
  });

  test("within densities, a room knows the rooms of the floors below it alone; no room knows the files above", () => {
    const area = "functions/population-density/";
    const roomOf = (file: string) => new RegExp(`^${area}([^/]+)/`).exec(file)?.[1];
    const floorOf = (room: string | undefined) =>
      densityFloors.findIndex((rooms) => room !== undefined && rooms.includes(room));
    const above = files.filter((file) => file.startsWith(area) && roomOf(file) === undefined);
    expect(above.sort()).toEqual(
      ["area", "contract", "format-schemas", "retrieve"].map((name) => `${area}${name}.ts`),
    );
    expect(
      wrong(
        (file) => roomOf(file) !== undefined,
        ({ from, to }) => {
          const [room, imported] = [roomOf(from), roomOf(to)];
          const isBelow = imported !== undefined && floorOf(imported) < floorOf(room);
          return to.startsWith(area) && imported !== room && !isBelow;
        },
      ),
    ).toEqual([]);
    // One more of either makes the area hard to survey.
    expect(densityFloors.length).toBeLessThanOrEqual(5);
    expect(densityFloors.flat().length).toBeLessThanOrEqual(10);
  });

  test("there are no cycles, types included", () => {
    const circular = files.filter(
      (file) => /^(?:functions|shared|infra|console|tools)\//.test(file) && reachedFrom(file).has(file),
    );
    expect(circular).toEqual([]);
  });

  test("within the local run, template, servers, lambda and gateway each know those before them alone", () => {
    const rooms = ["template", "servers", "lambda", "gateway"];
    const floorOf = (file: string) => rooms.indexOf(/^tools\/local\/([^/]+)\//.exec(file)?.[1] ?? "");
    const isLocal = (file: string) => file.startsWith("tools/local/");
    for (const room of rooms) {
      expect(files.filter((file) => file.startsWith(`tools/local/${room}/`)).length).toBeGreaterThan(3);
    }
    expect(files.filter((file) => /^tools\/local\/.+\//.test(file) && floorOf(file) < 0)).toEqual([]);
    expect(
      wrong(
        (file) => floorOf(file) >= 0,
        ({ from, to }) =>
          (isLocal(to) && (floorOf(to) < 0 || floorOf(to) > floorOf(from))) ||
          (to.startsWith("tools/") && !isLocal(to)),
      ),
    ).toEqual([]);
  });
});

/** Text made of the declarations, and no code: the one thing of the outside that an area holds. */
function isServedDocument(from: string, to: string): boolean {
  return from === "functions/openapi/document.ts" && to === "docs/openapi.json";
}

function isInfrastructure(to: string): boolean {
  return ["aws-cdk-lib", "constructs", "aws-cdk"].includes(packageOf(to));
}

describe("within an area", () => {
  const named = (name: string) =>
    files.filter((file) => areaOf(file) !== undefined && file.endsWith(`/${name}.ts`));

  test("nothing knows a handler: handlers are at the top", () => {
    expect(
      wrong(
        (file) => file.startsWith("functions/") || file.startsWith("shared/"),
        ({ to }) => handlerFiles.includes(to),
      ),
    ).toEqual([]);
  });

  test.each(named("contract"))(
    "%s is declarations: no rule, no store, of its area the limits alone",
    (file) => {
      const declares = ({ from, to, toFile }: Import) =>
        !toFile ||
        (to.startsWith("shared/") && !to.startsWith("shared/http/")) ||
        (areaOf(to) === areaOf(from) && to.endsWith("/limits.ts"));
      expect(
        wrong(
          (from) => from === file,
          (found) => !declares(found),
        ),
      ).toEqual([]);
      expect([...loadedBy(file)].filter(touchesTheWorld)).toEqual([]);
    },
  );

  test.each(named("limits"))("%s is numbers: it imports nothing", (file) => {
    expect(
      wrong(
        (from) => from === file,
        () => true,
      ),
    ).toEqual([]);
  });

  test.each(named("rules"))("%s is pure: nothing it loads can read, write or send", (file) => {
    expect(
      wrong(
        (from) => from === file,
        ({ to }) => to.endsWith("/store.ts"),
      ),
    ).toEqual([]);
    expect([...loadedBy(file)].filter(touchesTheWorld)).toEqual([]);
  });

  test.each(named("store"))("%s is reached through nothing of the pipeline", (file) => {
    expect([...loadedBy(file)].filter((to) => to.startsWith("shared/http/"))).toEqual([]);
  });
});

/** Whether a module can reach anything outside of the process. */
function touchesTheWorld(to: string): boolean {
  const outward = [
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "dns",
    "dns/promises",
    "tls",
    "child_process",
    "worker_threads",
  ];
  return (
    to.startsWith("shared/aws/") ||
    to.startsWith("@aws-sdk/") ||
    to === "undici" ||
    outward.includes(to.replace(/^node:/, ""))
  );
}

describe("production code", () => {
  /** Speaks to Secrets Manager in the protocol of rotation, which no other file ever needs. */
  const speaksToAws = ["functions/keys/rotate.ts"];

  test("speaks to AWS through `shared/aws` and `shared/sqs` alone", () => {
    expect(
      wrong(
        (file) => !/^(?:shared\/aws|shared\/sqs|tools|test)\//.test(file) && !speaksToAws.includes(file),
        ({ to }) => to.startsWith("@aws-sdk/"),
      ),
    ).toEqual([]);
    const exceptions = speaksToAws.filter(
      (file) => !importsOf(file).some(({ to }) => to.startsWith("@aws-sdk/")),
    );
    expect(exceptions).toEqual([]);
  });

  test("logs through `shared/aws/log.ts` alone", () => {
    expect(
      wrong(
        (file) => isProduction(file) && file !== "shared/aws/log.ts",
        ({ to }) => packageOf(to) === "@aws-lambda-powertools/logger",
      ),
    ).toEqual([]);
    const consoles = files.filter(
      (file) => isProduction(file) && /\bconsole\.\w+\(/.test(readFileSync(file, "utf8")),
    );
    expect(consoles).toEqual([]);
  });

  test("writes to its outputs through the log and `shared/aws/metrics.ts` alone", () => {
    const writers = files.filter(
      (file) => isProduction(file) && /\bprocess\.std|node:console/.test(readFileSync(file, "utf8")),
    );
    expect(writers).toEqual(["shared/aws/metrics.ts"]);
  });

  test("runs on no package that is there for development only", () => {
    const undeclared = imports.filter(
      (found) =>
        isProduction(found.from) &&
        isPackage(found) &&
        !Object.hasOwn(manifest.dependencies, packageOf(found.to)) &&
        !(found.typeOnly && Object.hasOwn(manifest.devDependencies, `@types/${packageOf(found.to)}`)),
    );
    expect(shown(undeclared)).toEqual([]);
  });

  test("reads the environment in two places", () => {
    const readers = files.filter(
      (file) => isProduction(file) && /\bprocess\.env\b/.test(readFileSync(file, "utf8")),
    );
    expect(readers.sort()).toEqual(["shared/environment.ts"]);
    expect(wrong(isProduction, ({ to }) => /^(?:node:)?process$/.test(to))).toEqual([]);
  });

  test("imports nothing that only a run can name", () => {
    expect(wrong(isProduction, ({ to }) => to === computed)).toEqual([]);
  });

  test("imports one zod, as a namespace, so that its languages and its twin stay out of the bundles", () => {
    const lines = files
      .filter(isProduction)
      .flatMap((file) => readFileSync(file, "utf8").match(/^import .* from "zod.*$/gm) ?? []);
    const entries = new Set(lines.map((line) => line.replace(/^import (?:type )?/, "")));
    expect([...entries]).toEqual([expect.stringMatching(/^\* as z from "zod(?:\/mini)?";$/)]);
  });
});

describe("the client, which callers copy", () => {
  const client = (file: string) => file.startsWith("client/");

  test("knows itself and the packages that it declares", () => {
    expect(wrong(client, ({ to, toFile }) => toFile && !to.startsWith("client/"))).toEqual([]);
    const generator = "client/generate-schema.ts";
    expect(
      shown(
        imports.filter(
          (found) =>
            client(found.from) &&
            found.from !== generator &&
            isPackage(found) &&
            !Object.hasOwn(clientManifest.dependencies, packageOf(found.to)),
        ),
      ),
    ).toEqual([]);
    expect(
      wrong(
        (file) => !file.startsWith("tools/docs"),
        ({ to }) => to === generator,
      ),
    ).toEqual([]);
  });

  test("knows Node.js in the listener of `node:http` alone", () => {
    expect(
      wrong(
        (file) => client(file) && file !== "client/node-listener.ts",
        ({ to, toFile }) => !toFile && isBuiltin(to),
      ),
    ).toEqual([]);
    expect(imports.some(({ from, to }) => from === "client/node-listener.ts" && isBuiltin(to))).toBe(true);
  });

  test("is known to nothing that is deployed", () => {
    expect(
      wrong(
        (file) => /^(?:functions|shared|infra)\//.test(file),
        ({ to }) => client(to),
      ),
    ).toEqual([]);
  });
});

test("every package that is imported is declared", () => {
  const declaredOf = (file: string) => {
    const { dependencies, devDependencies } = file.startsWith("client/") ? clientManifest : manifest;
    return { ...dependencies, ...devDependencies };
  };
  const undeclared = imports.filter(
    (found) =>
      isPackage(found) &&
      !Object.hasOwn(declaredOf(found.from), packageOf(found.to)) &&
      !(found.typeOnly && Object.hasOwn(declaredOf(found.from), `@types/${packageOf(found.to)}`)),
  );
  expect(shown(undeclared)).toEqual([]);
});
