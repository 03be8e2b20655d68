import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { endpoints, protocolEndpoints, type TableName } from "../../functions/areas.ts";
import { bundledIds, handlerFile } from "../../infra/bundles.ts";
import { bundledRecords } from "../../infra/functions.ts";
import { metricNamespaceVariable } from "../../shared/environment.ts";
import { type QueueName, queueVariable } from "../../shared/sqs/queues.ts";
import { tableVariable } from "../../shared/table.ts";
import { bundleInTurn } from "../../tools/build.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { isInCi } from "../support/sample.ts";

type BundledId = (typeof bundledIds)[number];

/** Lines that are put before those of a file, by the file. */
type Added = Readonly<Record<string, readonly string[]>>;

interface Bundle {
  /** The names and texts of its files. */
  readonly text: string;
  /** The files of the project of which it has code. */
  readonly sources: readonly string[];
}

/** Every bundle, with the names that the code has. Packages are left outside: none reads a variable of the service. */
async function bundlesWith(added: Added): Promise<ReadonlyMap<BundledId, Bundle>> {
  const made = await bundleInTurn(bundledIds.map(handlerFile), {
    packages: "external",
    minifyIdentifiers: false,
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
  const all = made.map(({ metafile, outputFiles }) => ({
    text: outputFiles.map(({ path, text }) => path + text).join("\n"),
    sources: Object.values(metafile.outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  }));
  return new Map(all.map((bundle, index) => [bundledIds[index] ?? expect.fail(), bundle]));
}

const bundles = await bundlesWith({});

const folder = useOwnFolder();
const quoted = (file: string) => JSON.stringify(fileURLToPath(new URL(`../../${file}`, import.meta.url)));

test.runIf(isInCi)(
  "a variable added to the list of all variables changes only the bundles of the functions that read it",
  async () => {
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

    expect(bundledIds.filter((id) => after.get(id)?.text !== bundles.get(id)?.text)).toEqual(readers);
  },
);

test("the bundle of a function has the variables that the stack gives it", () => {
  const missing = bundledIds.flatMap((id) => {
    const given = bundledRecords[id].variables ?? [];
    return given
      .filter((name) => !bundles.get(id)?.text.includes(`"${name}"`))
      .map((name) => `${id}: ${name}`);
  });
  expect(missing).toEqual([]);
});

/** The variables that a bundle can read: those of tables and queues too. */
function readBy({ text, sources }: Bundle): readonly string[] {
  const configured = sources.flatMap(
    (file) => /^shared\/variables\/(?!format)(.+)\.ts$/.exec(file)?.[1] ?? [],
  );
  const named = [...text.matchAll(/process\.env\.(\w+)/g)].map(([, name = ""]) => name);
  const taken = [...text.matchAll(/\{([^{}]*)\}=process\.env\b/g)].flatMap(([, list = ""]) =>
    [...list.matchAll(/([A-Z][A-Z_]+):/g)].map(([, name = ""]) => name),
  );
  const code = text.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""');
  const used = [...text.matchAll(/(\w+)=(?:\w+\()?\{name:"([a-z-]+)",partitionKey:/g)]
    .filter(([, table]) => [...code.matchAll(new RegExp(`\\b${table}\\b`, "g"))].length > 1)
    .map(([, , name]) => tableVariable({ name: name as TableName }));
  const queues = sources.includes("shared/sqs/messages.ts") ? ["QUEUE_DENSITY_JOBS"] : [];
  const upper = configured.map((name) => name.toUpperCase().replaceAll("-", "_"));
  return [...new Set([...upper, ...named, ...taken, ...used, ...queues])].filter((name) => !known.has(name));
}

/** What every function has, what Lambda sets, and what only a local run or a test does. */
const known = new Set([
  "LOG_LEVEL",
  metricNamespaceVariable,
  ...["FUNCTION_NAME", "FUNCTION_VERSION", "LOG_STREAM_NAME", "RUNTIME_API"].map(
    (name) => `AWS_LAMBDA_${name}`,
  ),
  "AWS_ENDPOINT_URL_DYNAMODB",
  "AWS_SAM_LOCAL",
  "DEADLINE_FACTOR",
  "DEMO_CITY",
  "EXAMPLES_AT",
  "PAGES_FOLDER",
  "PASSWORD_HASH_LN",
]);

/** The variables that the record of a function gives it. */
function givenTo(id: BundledId): readonly string[] {
  const { variables = [], tables = {}, queues = {} } = bundledRecords[id];
  const isEndpoint = [...endpoints, ...protocolEndpoints].some((endpoint) => endpoint.id === id);
  return [
    ...variables,
    ...Object.keys(tables).map((name) => tableVariable({ name: name as TableName })),
    ...Object.keys(queues).map((name) => queueVariable(name as QueueName)),
    ...(isEndpoint ? ["CORS_ORIGINS"] : []),
  ];
}

/** Functions that do not know who calls them. */
const uncounted: readonly BundledId[] = [
  "profile/authenticate",
  "keys/publish",
  "openapi/publish",
  "openapi/catalog",
  "oauth2/metadata",
];

/** What is in the bundles of some functions, in code that they do not run, by the variable. */
const unread: Readonly<Record<string, readonly BundledId[]>> = {
  // `serve` counts requests by caller.
  DAILY_QUOTA: uncounted,
  RATE_LIMIT_PER_MINUTE: uncounted,
  TABLE_QUOTAS: uncounted,
  // Whoever has a token of a device names no device, and none is made for a number of the sandbox.
  SANDBOX: ["qos-profiles/get-by-name", "oauth2/token"],
  // The schema of a sink, which they take in no request.
  SINK_ALLOWED_NETWORKS: [
    "population-density/summarize",
    "population-density/list-operations",
    "population-density/read-operation",
    "population-density/cancel-operation",
  ],
  // They read the newest item of the data set, and other functions of these stores' files do the rest.
  CACHE_SECONDS: ["population-density/sweep"],
  TABLE_DENSITY_CALLERS: ["population-density/read-operation"],
};

test("the record of a function has every variable, table and queue that its bundle reads", () => {
  const lacking = bundledIds.flatMap((id) =>
    readBy(bundles.get(id) ?? expect.fail(id))
      .filter((name) => !givenTo(id).includes(name))
      .map((name) => `${id}: ${name}`),
  );
  const exceptions = Object.entries(unread).flatMap(([name, ids]) => ids.map((id) => `${id}: ${name}`));
  expect(lacking.sort()).toEqual(exceptions.sort());
});
