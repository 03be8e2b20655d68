import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { expect, test } from "vitest";
import * as z from "zod";
import { bundledIds, handlerPath } from "../../infra/bundles.ts";
import {
  circlesAmongRooms,
  computed,
  files,
  type Import,
  isPackage,
  knownTo,
  loadedBy,
  packageOf,
  wrongImports,
} from "../support/imports.ts";
import { words } from "../support/words.ts";

const isIn =
  (...folders: readonly string[]) =>
  (file: string) =>
    folders.some((folder) => file.startsWith(`${folder}/`));
const isProduction = isIn("functions", "shared");
const areaOf = (file: string) => /^functions\/([^/]+)\//.exec(file)?.[1];
const isNamed = (name: string) => (file: string) =>
  areaOf(file) !== undefined && file.endsWith(`/${name}.ts`);
const isInfrastructure = (to: string) => ["aws-cdk-lib", "constructs", "aws-cdk"].includes(packageOf(to));
const handlerFiles = bundledIds.map(handlerPath);

const outwardModules = words(
  "fs fs/promises http http2 https dns dns/promises tls child_process worker_threads",
);

/** Whether a module can reach anything outside of the process. */
function performsIO(to: string): boolean {
  return (
    to.startsWith("shared/aws/") ||
    to.startsWith("@aws-sdk/") ||
    to === "undici" ||
    outwardModules.includes(to.replace(/^node:/, ""))
  );
}

const manifest = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync("package.json", "utf8")));

// Imports run downhill.

test("no files import each other in a circle, types included", () => {
  const sources = files.filter(isIn("functions", "shared", "infra", "console", "tools"));
  expect(sources.filter((file) => knownTo(file).has(file))).toEqual([]);
});

test.each(["console", "functions", "tools/local", "tools/verify"])(
  "no rooms of %s import each other in a circle",
  (folder) => {
    expect(circlesAmongRooms(folder)).toEqual([]);
  },
);

/** Text made of the declarations, and no code: the one thing of the outside that an area holds. */
const isServedDocument = ({ from, to }: Import) =>
  from === "functions/openapi/document.ts" && to === "docs/openapi.json";
const isShownToo = (to: string) =>
  /^(?:functions\/population-density\/(?:cover\/|query\/(?:intervals|price|size)\.ts$|summary\/ground-risk\.ts$)|shared\/(?:sandbox\/sinks|geo-parquet|nesting|place-names)\.ts$)/.test(
    to,
  );
const isDeclaration = (to: string) =>
  /^functions\/[^/]+\/(?:area|website)\.ts$|^shared\/(?:.+\/)?(?:[a-z-]+-)?table\.ts$/.test(to);
const isDatabase = (to: string) => /^shared\/aws\/(?:database|database-client|query-newest)\.ts$/.test(to);
const cover = isIn("functions/population-density/cover");
const isDensity = isIn("functions/population-density");
/** Each is invoked by a service of AWS, in a protocol of that service's own. */
const invokedByAws = ["functions/keys/rotate.ts", "functions/releases/check.ts"];
const mayImportAws = isIn("shared/aws", "shared/sqs", "tools", "test");
const isDevelopment = ({ to, typeOnly }: Import) => {
  const name = packageOf(to);
  const isTyped = typeOnly && Object.hasOwn(manifest.devDependencies, `@types/${name}`);
  return !Object.hasOwn(manifest.dependencies, name) && !isTyped;
};
const { dependencies: ofClient } = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync("client/package.json", "utf8")));

/** Which files may not import what. */
const rules: readonly (readonly [string, (file: string) => boolean, (found: Import) => boolean])[] = [
  [
    "shared/ imports only itself",
    isIn("shared"),
    ({ to, toFile }) => (toFile && !isIn("shared")(to)) || isInfrastructure(to),
  ],
  [
    "shared/sinks/ imports only itself and Node.js",
    isIn("shared/sinks"),
    ({ to, toFile }) => (toFile ? !isIn("shared/sinks")(to) : !isBuiltin(to)),
  ],
  [
    "an area imports only itself and shared/",
    (file) => areaOf(file) !== undefined,
    (found) =>
      (found.toFile &&
        !isIn("shared")(found.to) &&
        areaOf(found.to) !== areaOf(found.from) &&
        !isServedDocument(found)) ||
      isInfrastructure(found.to),
  ],
  [
    "the list of areas imports only declarations",
    (file) => file === "functions/areas.ts",
    ({ to }) => !isDeclaration(to),
  ],
  [
    "infra/ imports only itself, shared/ and the list of areas",
    isIn("infra"),
    ({ to, toFile }) => toFile && !isIn("infra", "shared")(to) && to !== "functions/areas.ts",
  ],
  [
    "console/ imports only itself, the geometry of cells, the price of a query, classes of ground risk, GeoParquet, the sandbox's sinks, how deep JSON is nested and names of places",
    isIn("console"),
    ({ to, toFile }) => (toFile ? !isIn("console")(to) && !isShownToo(to) : isBuiltin(to)),
  ],
  [
    "only tests and tools/console/ import console/",
    (file) => !isIn("console", "test", "tools/console")(file),
    ({ to }) => isIn("console")(to),
  ],
  ["only tests import a test", (file) => !isIn("test")(file), ({ to }) => isIn("test")(to)],
  ["functions/ and shared/ import no handler", isProduction, ({ to }) => handlerFiles.includes(to)],
  [
    "the cover imports only itself and robust-predicates",
    cover,
    ({ to, toFile }) => (toFile ? !cover(to) : to !== "robust-predicates"),
  ],
  [
    "population density reaches tables only through its stores",
    (file) => isDensity(file) && !/[/-]store\.ts$/.test(file),
    ({ to }) => isDatabase(to),
  ],
  [
    "only shared/aws/, shared/sqs/, the rotation of keys and the check of releases import the AWS SDK",
    (file) => !mayImportAws(file) && !invokedByAws.includes(file),
    ({ to }) => to.startsWith("@aws-sdk/"),
  ],
  [
    "only shared/aws/log.ts imports the logger",
    (file) => isProduction(file) && file !== "shared/aws/log.ts",
    ({ to }) => packageOf(to) === "@aws-lambda-powertools/logger",
  ],
  [
    "production code imports no development dependency",
    isProduction,
    (found) => isPackage(found) && isDevelopment(found),
  ],
  [
    "production code imports no Zod but zod/mini",
    isProduction,
    ({ to, typeOnly }) =>
      !typeOnly && (to === "zod" || /^@aws-lambda-powertools\/parser\/(?:schemas|envelopes)/.test(to)),
  ],
  ["production code has no computed import", isProduction, ({ to }) => to === computed],
  [
    "client/ imports only itself and packages in its manifest, and Node.js only in its listener, its receiver hashes",
    (file) => isIn("client")(file) && file !== "client/generate-schema.ts",
    ({ from, to, toFile }) =>
      toFile
        ? !isIn("client")(to)
        : isBuiltin(to)
          ? from !== "client/node-listener.ts" && !(from === "client/receiver.ts" && to === "node:crypto")
          : !Object.hasOwn(ofClient, packageOf(to)),
  ],
  ["no deployed code imports client/", isIn("functions", "shared", "infra"), ({ to }) => isIn("client")(to)],
];

test.each(rules)("%s", (_, from, isWrong) => {
  expect(wrongImports(from, isWrong)).toEqual([]);
});

test("the list of areas performs no I/O", () => {
  expect([...loadedBy("functions/areas.ts")].filter(performsIO)).toEqual([]);
});

test("every file of functions/ but the list of areas is in an area", () => {
  expect(files.filter((file) => isIn("functions")(file) && areaOf(file) === undefined)).toEqual([
    "functions/areas.ts",
  ]);
});

test.each(files.filter(isNamed("contract")))(
  "%s imports only the limits and schemas of its area and performs no I/O",
  (file) => {
    const isDeclaration = ({ from, to, toFile }: Import) =>
      !toFile ||
      (isIn("shared")(to) && !isIn("shared/http")(to)) ||
      (areaOf(to) === areaOf(from) && /(?:\/limits|-schemas)\.ts$/.test(to));
    expect(
      wrongImports(
        (from) => from === file,
        (found) => !isDeclaration(found),
      ),
    ).toEqual([]);
    expect([...loadedBy(file)].filter(performsIO)).toEqual([]);
  },
);

test.each(files.filter((file) => isNamed("rules")(file) || /-rules\.ts$/.test(file)).filter(isProduction))(
  "%s imports no store and performs no I/O",
  (file) => {
    const isStore = ({ to }: Import) => to.endsWith("/store.ts");
    expect(wrongImports((from) => from === file, isStore)).toEqual([]);
    expect([...loadedBy(file)].filter(performsIO)).toEqual([]);
  },
);

test("delivery reaches tables, queues and sinks only through its ports", () => {
  const isOutward = (file: string) =>
    /(?:-store|-ports|\/send)\.ts$/.test(file) || handlerFiles.includes(file);
  const core = files.filter(
    (file) => isIn("functions/population-density/delivery")(file) && !isOutward(file),
  );
  // The core takes the class of an error from the log, which has metrics in its lines. Times of calls call nothing.
  const isSideEffectFree = (to: string) => /^shared\/aws\/(?:dependency-times|log|metrics)\.ts$/.test(to);
  const reaching = core.filter((file) =>
    [...loadedBy(file)].some((to) => performsIO(to) && !isSideEffectFree(to)),
  );
  expect(reaching).toEqual([]);
});
