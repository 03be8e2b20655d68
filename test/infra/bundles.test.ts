import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bundledIds, handlerFile } from "../../infra/bundles.ts";
import { bundledRecords } from "../../infra/functions.ts";
import { bundleInTurn } from "../../tools/build.ts";
import { useOwnFolder } from "../support/own-folder.ts";

type BundledId = (typeof bundledIds)[number];

/** Lines that are put before those of a file, by the file. */
type Added = Readonly<Record<string, readonly string[]>>;

/** The names and texts of each bundle's files. Packages are left outside: none reads a variable of the service. */
async function bundlesWith(added: Added): Promise<ReadonlyMap<BundledId, string>> {
  const made = await bundleInTurn(bundledIds.map(handlerFile), {
    packages: "external",
    plugins: [
      {
        name: "added",
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
            contents: [...(added[path] ?? []), await readFile(path, "utf8")].join("\n"),
            loader: "ts",
          })),
      },
    ],
  });
  const texts = made.map(({ outputFiles }) => outputFiles.map(({ path, text }) => path + text).join("\n"));
  return new Map(bundledIds.map((id, index) => [id, texts[index] ?? ""]));
}

const bundles = await bundlesWith({});

const folder = useOwnFolder();
const quoted = (file: string) => JSON.stringify(fileURLToPath(new URL(`../../${file}`, import.meta.url)));

test("a variable added to the list of all variables changes only the bundles of the functions that read it", async () => {
  const file = await folder.write(
    "new-limit.ts",
    [
      `import { count } from ${quoted("shared/variables/format.ts")};`,
      'export const NEW_LIMIT = { name: "NEW_LIMIT", default: "5", format: () => count(0, 9) };',
    ].join("\n"),
  );
  const list = fileURLToPath(new URL("../../infra/configuration.ts", import.meta.url));
  const reading = [
    `import { NEW_LIMIT } from ${JSON.stringify(file)};`,
    `import { setting as read } from ${quoted("shared/environment.ts")};`,
    "export const limit = () => read(NEW_LIMIT);",
  ];
  const readers: readonly BundledId[] = ["authorizer/authorize", "console/publish"];

  const after = await bundlesWith({
    [list]: [`export { NEW_LIMIT } from ${JSON.stringify(file)};`],
    ...Object.fromEntries(readers.map((id) => [handlerFile(id), reading])),
  });

  expect(bundledIds.filter((id) => after.get(id) !== bundles.get(id))).toEqual(readers);
});

test("the bundle of a function has the variables that the stack gives it", () => {
  const missing = bundledIds.flatMap((id) => {
    const given = bundledRecords[id].variables ?? [];
    return given.filter((name) => !bundles.get(id)?.includes(`"${name}"`)).map((name) => `${id}: ${name}`);
  });
  expect(missing).toEqual([]);
});
