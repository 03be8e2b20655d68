import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  CreateTableCommand,
  DynamoDBClient,
  paginateScan,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { geohashesOf } from "../../../functions/population-density/cover/cover.ts";
import {
  type ImportOrder,
  keys,
  putJson,
} from "../../../functions/population-density/distributed-import/execution-objects.ts";
import { handler } from "../../../functions/population-density/distributed-import/import-densities.ts";
import type { Provenance } from "../../../functions/population-density/tiles/data-set.ts";
import { readDataSet, recordPublishing } from "../../../functions/population-density/tiles/data-set-store.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { densityImportDefinition } from "../../../infra/density-import-definition.ts";
import { tableVariable } from "../../../shared/table.ts";
import { coveredAreaIn } from "../../../tools/import/density/area.ts";
import { type DensityImported, importDensity } from "../../../tools/import/density/import-density.ts";
import { useTables } from "../../support/database.ts";
import { openFaultyEndpoint } from "../../support/faulty-endpoint.ts";
import { startBucket, type TestBucket } from "../../support/objects.ts";
import { runs, sampleOf } from "../../support/sample.ts";
import { execute } from "../../support/state-machine.ts";

let folder: string;
let bucket: TestBucket;
let database: DynamoDBClient;
beforeAll(async () => {
  useTables();
  process.env.DENSITY_PRECISIONS = "3-6";
  process.env.DENSITY_K = "10";
  folder = await mkdtemp(join(tmpdir(), "distributed-"));
  bucket = await startBucket();
  database = new DynamoDBClient({});
});
afterAll(async () => {
  delete process.env.DENSITY_PRECISIONS;
  delete process.env.DENSITY_K;
  useTables();
  database.destroy();
  await bucket.close();
  await rm(folder, { recursive: true });
});

/** The table of the import on one machine, and that of the distributed one. */
interface Tables {
  readonly one: string;
  readonly distributed: string;
}
let tables: Tables;
beforeEach(async () => {
  tables = { one: await freshTable(), distributed: await freshTable() };
});

async function freshTable(): Promise<string> {
  const TableName = `densities-${randomUUID()}`;
  await database.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: ["tile", "day"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: [
        { AttributeName: "tile", KeyType: "HASH" },
        { AttributeName: "day", KeyType: "RANGE" },
      ],
    }),
  );
  return TableName;
}

/** Every item, attribute by attribute and byte by byte; but how often a list of parts or the data set was written. */
async function itemsOf(table: string): Promise<string[]> {
  const items: string[] = [];
  for await (const { Items = [] } of paginateScan({ client: database }, { TableName: table })) {
    for (const item of Items) {
      if (["parts", "data-set"].includes(item.tile?.S ?? "")) delete item.revision;
      const attributes = Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1));
      items.push(
        JSON.stringify(attributes, (_, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
        ),
      );
    }
  }
  return items.sort();
}

function useTable(table: string): void {
  process.env[tableVariable(densities)] = table;
}

async function inTable<Result>(table: string, run: () => Promise<Result>): Promise<Result> {
  useTable(table);
  return await run();
}

/** Degrees. At 45 degrees north and 5.625 degrees east four geohashes of three characters meet. */
type Box = readonly [west: number, south: number, east: number, north: number];

const aroundTheCorner: Box = [5.55, 44.96, 5.72, 45.04];
const further: Box = [5.55, 44.96, 5.76, 45.06];
const neighbour: Box = [5.7, 45.0, 5.82, 45.06];

const precision = 6;

function areaOf([west, south, east, north]: Box): string {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return JSON.stringify({ type: "Polygon", coordinates: [ring] });
}

async function fileOf(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Numbers that look random, and are the same in each run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const times = [
  "2026-11-02T08:00:00Z",
  "2026-11-02T09:00:00Z",
  "2026-11-09T08:00:00Z",
  "2026-11-10T23:00:00Z",
];

/** Rows of two cells of three: most have fewer people than K, so that there are many groups. */
async function rowsOf(box: Box, { hours = times, seed = 1 } = {}): Promise<string[]> {
  const cells = await cellsOf(box);
  const random = sequence(seed);
  return hours.flatMap((time) =>
    cells.flatMap((cell) => {
      if (random() < 0.33) return [];
      const people = random() < 0.6 ? Math.floor(10 * random()) : Math.floor(1e6 * random()) / 1_000;
      const range = random() < 0.5 ? "," : `${people * random()},${people * (1 + random())}`;
      return [`${cell},${time},${people},${range}`];
    }),
  );
}

async function cellsOf(box: Box): Promise<string[]> {
  const { rings } = await coveredAreaIn(await fileOf("cells.geojson", areaOf(box)));
  const { polygonOf } = await import("../../../functions/population-density/cover/polygon.ts");
  const { coverOf } = await import("../../../functions/population-density/cover/cover.ts");
  return rings.flatMap((ring) => {
    const polygon = polygonOf(ring);
    return polygon === undefined ? [] : geohashesOf(coverOf(polygon, precision), precision);
  });
}

const header = "geohash,startTime,people,minPeople,maxPeople\n";

interface Wanted {
  readonly box?: Box;
  readonly typical?: boolean;
  readonly isRecounted?: boolean;
  readonly marketShare?: number;
  readonly provenance?: Provenance;
  readonly threshold?: number;
}

async function importOnOneMachine(
  files: Readonly<Record<string, string>>,
  wanted: Wanted,
): Promise<DensityImported> {
  const paths: string[] = [];
  for (const [name, content] of Object.entries(files)) paths.push(await fileOf(name, content));
  const coverage = wanted.box && (await fileOf("area.geojson", areaOf(wanted.box)));
  return await inTable(tables.one, () =>
    importDensity({
      files: paths,
      coverage,
      typical: wanted.typical === true,
      isRecounted: wanted.isRecounted,
      marketShare: wanted.marketShare,
      provenance: wanted.provenance,
      precisions: [3, 4, 5, 6],
      threshold: 10,
    }),
  );
}

const definition = densityImportDefinition({
  partition: "aws",
  functionArn: "import",
  bucketName: "density-import",
});

/** Of the execution that was started last. */
let lastId = "";

async function importDistributed(
  files: Readonly<Record<string, string | Uint8Array>>,
  wanted: Wanted,
  seed = 1,
  invoke: (payload: unknown) => Promise<unknown> = handler,
) {
  const id = randomUUID();
  lastId = id;
  for (const [name, content] of Object.entries(files)) await bucket.put(`counts/${id}/${name}`, content);
  if (wanted.box !== undefined) {
    const area = await coveredAreaIn(await fileOf("area.geojson", areaOf(wanted.box)));
    await bucket.put(`executions/${id}/area.json`, gzipSync(JSON.stringify(area)));
  }
  const order: ImportOrder = {
    id,
    prefix: `counts/${id}/`,
    hasArea: wanted.box !== undefined,
    typical: wanted.typical === true,
    isRecounted: wanted.isRecounted === true,
    marketShare: wanted.marketShare ?? 1,
    threshold: wanted.threshold ?? 10,
    precisions: [3, 4, 5, 6],
    provenance: wanted.provenance,
  };
  const random = sequence(seed);
  const services = {
    invoke: async (_: string, payload: unknown) => await invoke(payload),
    listObjects: async (_: string, prefix: string) => await bucket.list(prefix),
    getObject: async (_: string, key: string) => await bucket.get(key),
  };
  return await inTable(tables.distributed, () =>
    execute(definition, order, services, (items) => shuffled(items, random)),
  );
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

/** The rows in some files, dealt out at random, in three formats. */
function split(rows: readonly string[], count: number, seed: number): Record<string, string | Uint8Array> {
  const random = sequence(seed);
  const dealt = Array.from({ length: count }, (): string[] => []);
  for (const row of shuffled(rows, random)) dealt[Math.floor(count * random())]?.push(row);
  return Object.fromEntries(
    dealt.map((lines, index) => {
      const csv = `${header}${lines.join("\n")}\n`;
      if (index % 3 === 1) return [`${index}.csv.gz`, gzipSync(csv)];
      if (index % 3 === 2) return [`${index}.ndjson`, lines.map(ndjsonOf).join("\n")];
      return [`${index}.csv`, csv];
    }),
  );
}

function ndjsonOf(row: string): string {
  const [geohash, startTime, people, minPeople, maxPeople] = row.split(",");
  const range = minPeople === "" ? {} : { minPeople: Number(minPeople), maxPeople: Number(maxPeople) };
  return JSON.stringify({ geohash, startTime, people: Number(people), ...range });
}

describe("a distributed import writes what an import on one machine writes, byte for byte", () => {
  test.each(
    sampleOf<[string, Wanted, number]>(
      [
        [
          "with a share of all people, and a source",
          { box: aroundTheCorner, marketShare: 0.31, provenance: { source: "A", licence: "CC0-1.0" } },
          3,
        ],
        ["of typical weekdays, over what the rows cover", { typical: true }, 2],
        ["in one file", { box: aroundTheCorner }, 1],
        ["of typical weekdays, counted again", { box: further, typical: true, isRecounted: true }, 5],
      ],
      1,
    ),
  )(
    "%s",
    async (_, wanted: Wanted, count) => {
      // Hours of two Mondays; in the whole, also one of a Tuesday.
      const all = await rowsOf(aroundTheCorner, { hours: times.slice(0, runs(4, 3)) });
      const rows = wanted.typical === true ? all.filter((row) => !row.includes("2026-11-09T")) : all;
      const one = await importOnOneMachine({ "counted.csv": header + rows.join("\n") }, wanted);
      const distributed = await importDistributed(split(rows, count, count), wanted, count);
      const prefixes = (await bucket.list(`executions/${lastId}/stored/`)).length;
      expect(distributed).toEqual({ status: "SUCCEEDED", output: one });
      expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
      expect(one.rows).toBeGreaterThan(400);
      expect(prefixes).toBeGreaterThanOrEqual(4);
      if (wanted.provenance !== undefined) await expectDataSet(aroundTheCorner, rows, wanted.provenance);
    },
    300_000,
  );

  /** What the distributed import says that it covered, of which day, and from which source. */
  async function expectDataSet(box: Box, rows: readonly string[], provenance: Provenance): Promise<void> {
    const found = await inTable(tables.distributed, () => readDataSet(AbortSignal.timeout(60_000)));
    const dates = rows.map((row) => row.slice(precision + 1, precision + 11)).sort();
    expect(found).toMatchObject({ newestDay: dates.at(-1), provenance: [provenance] });
    const { west = 0, south = 0, east = 0, north = 0 } = found?.coverage ?? {};
    const [height, width] = [180 / 2 ** 15, 360 / 2 ** 15];
    for (const [outer, inner, cell] of [
      [-west, -box[0], width],
      [-south, -box[1], height],
      [east, box[2], width],
      [north, box[3], height],
    ] as const) {
      expect(outer).toBeGreaterThanOrEqual(inner);
      expect(outer).toBeLessThan(inner + cell);
    }
  }

  test("also beside what is published: of a larger area, a neighbour, and a second time", async () => {
    const steps = [
      [aroundTheCorner, 1],
      [further, 1],
      [neighbour, 2],
      [further, 1],
    ].slice(0, runs(4, 2)) as [Box, number][];
    for (const [index, [box, seed]] of steps.entries()) {
      // A neighbour says nothing of cells that are published: they stay as they are.
      const known = new Set(box === neighbour ? await cellsOf(further) : []);
      const hours = times.slice(0, runs(4, 2));
      const rows = (await rowsOf(box, { hours, seed })).filter((row) => !known.has(row.slice(0, precision)));
      const wanted = { box };
      const one = await importOnOneMachine({ "counted.csv": header + rows.join("\n") }, wanted);
      const distributed = await importDistributed(split(rows, 2, index), wanted, index);
      expect(distributed).toEqual({ status: "SUCCEEDED", output: one });
      expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
    }
  }, 240_000);
});

describe("K is one fact", () => {
  const files = { "a.csv": `${header}u04zzz,${times[0]},20,,` };

  test("an import of a stack that was deployed with another K than the service is refused", async () => {
    const distributed = await importDistributed(files, { threshold: 20 });
    expect(distributed).toEqual({
      status: "FAILED",
      error: "ImportError",
      cause:
        "DENSITY_K is 20 in the outputs of the service, but 10 in the stack that imports densities: " +
        "deploy both, with --all",
    });
    expect(await itemsOf(tables.distributed)).toEqual([]);
  });

  test("an import with a smaller K than what is stored is refused", async () => {
    await inTable(tables.distributed, () =>
      recordPublishing({ threshold: 12, precisions: [3, 4] }, undefined),
    );
    const before = await itemsOf(tables.distributed);
    expect(await importDistributed(files, {})).toMatchObject({
      status: "FAILED",
      error: "ImportError",
      cause: expect.stringMatching(/^DENSITY_K is 10, but densities in the table were imported with 12: /),
    });
    expect(await itemsOf(tables.distributed)).toEqual(before);
  });
});

test("an import that loses a day to another one says so, gives the others back, and can be repeated", async () => {
  const cells = ["u04zzz", "u0hbp0", "u1h2nb"].slice(0, runs(3, 2));
  const rows = cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]);
  const files = { "a.csv": header + rows.join("\n") };
  const losing = async (payload: unknown) => {
    const { step, prefix } = payload as { step: string; prefix?: string };
    if (step === "store" && prefix === "u0h") await takeDay("day#2026-11-09");
    return await handler(payload);
  };
  expect(await importDistributed(files, {}, 1, losing)).toEqual({
    status: "FAILED",
    error: "ImportFailed",
    cause: "2026-11-09: another import has started to store it: repeat this one",
  });
  const taken = (await itemsOf(tables.distributed)).filter((item) => item.includes('"writer"'));
  expect(taken).toEqual([expect.stringContaining('["writer",{"S":"another"}]')]);

  const one = await importOnOneMachine(files, {});
  const repeated = await importDistributed(files, {});
  expect(repeated).toMatchObject({ status: "SUCCEEDED", output: { rows: one.rows, items: one.items } });
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
}, 180_000);

test("an import that loses a day before it has stored anything leaves no list of parts changed", async () => {
  const filesOf = (cells: readonly string[]) => ({
    "a.csv": header + cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]).join("\n"),
  });
  await importDistributed(filesOf(["u04zzz"]), {});
  const before = await itemsOf(tables.distributed);
  const losing = async (payload: unknown) => {
    const { step } = payload as { step: string };
    if (step === "begin") await storeDay("day#2026-11-09");
    return await handler(payload);
  };

  expect(await importDistributed(filesOf(["u04zzz", "u0hbp0"]), {}, 1, losing)).toMatchObject({
    status: "FAILED",
    cause: "2026-11-09: another import has started to store it: repeat this one",
  });

  const listsOf = (items: readonly string[]) =>
    items.filter((item) => item.includes('["tile",{"S":"parts"}]'));
  expect(listsOf(before)).toHaveLength(2);
  expect(listsOf(await itemsOf(tables.distributed))).toEqual(listsOf(before));
}, 180_000);

test("an import that loses a day after a first attempt to begin has failed leaves no list changed", async () => {
  const filesOf = (cells: readonly string[]) => ({
    "a.csv": header + cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]).join("\n"),
  });
  await importDistributed(filesOf(["u04zzz"]), {});
  const before = await itemsOf(tables.distributed);
  const address = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
  const endpoint = await openFaultyEndpoint(address);
  let attempts = 0;
  endpoint.inject(({ parameters }) => {
    const { day } = parametersOfDay.parse(parameters);
    const isTaking = changeOf(parameters) === "take" && day === "day#2026-11-09";
    return isTaking && attempts === 1 ? { refuse: { status: 400, name: "AccessDeniedException" } } : "pass";
  });
  const losing = async (payload: unknown) => {
    const { step } = payload as { step: string };
    if (step === "begin" && ++attempts === 2) await storeDay("day#2026-11-09");
    return await handler(payload);
  };
  try {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint.url;
    expect(await importDistributed(filesOf(["u04zzz", "u0hbp0"]), {}, 1, losing)).toMatchObject({
      status: "FAILED",
      cause: "2026-11-09: another import has started to store it: repeat this one",
    });
  } finally {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = address;
    await endpoint.close();
  }

  expect(attempts).toBe(2);
  const listsOf = (items: readonly string[]) =>
    items.filter((item) => item.includes('["tile",{"S":"parts"}]'));
  expect(listsOf(await itemsOf(tables.distributed))).toEqual(listsOf(before));
}, 180_000);

test("an import that fails does not name what a later attempt has done", async () => {
  const rows = ["u04zzz", "u0hbp0"].map((cell) => row(cell, times[0]));
  const losing = async (payload: unknown) => {
    const { step, prefix = "", order } = payload as { step: string; prefix?: string; order: { id: string } };
    if (step === "store" && prefix === "u04")
      await putJson(keys.failed(order.id, prefix), { reason: "of an attempt before" });
    const result = await handler(payload);
    if (step === "store" && prefix === "u04") await takeDay("day#2026-11-02");
    return result;
  };
  expect(await importDistributed({ "a.csv": header + rows.join("\n") }, {}, 1, losing)).toMatchObject({
    status: "FAILED",
    cause: "2026-11-02: another import has started to store it: repeat this one",
  });
}, 180_000);

test("a step that fails when it has begun or released some of its days is done again", async () => {
  const cells = ["u04zzz", "u0hbp0"].slice(0, runs(2, 1));
  const rows = cells.flatMap((cell) => [row(cell, times[0]), row(cell, times[2])]);
  const files = { "a.csv": header + rows.join("\n") };
  const one = await importOnOneMachine(files, {});
  const address = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "";
  const endpoint = await openFaultyEndpoint(address);
  const failed = new Set<string>();
  endpoint.inject(({ parameters }) => {
    const { day } = parametersOfDay.parse(parameters);
    const change = changeOf(parameters);
    if (day !== "day#2026-11-09" || change === undefined || failed.has(change)) return "pass";
    failed.add(change);
    return { refuse: { status: 400, name: "AccessDeniedException" } };
  });
  try {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint.url;
    expect(await importDistributed(files, {})).toEqual({ status: "SUCCEEDED", output: one });
  } finally {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = address;
    await endpoint.close();
  }
  expect([...failed]).toEqual(["take", "release"]);
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
}, 180_000);

const keyOfDay = z.object({ tile: z.object({ S: z.string() }), day: z.object({ S: z.string() }) });

const parametersOfDay = z.pipe(
  z.object({ Item: z.optional(keyOfDay), Key: z.optional(keyOfDay) }),
  z.transform(({ Item, Key = Item }) => ({ day: Key?.tile.S === "parts" ? Key.day.S : undefined })),
);

/** Whether a call takes or releases a day. */
function changeOf({ UpdateExpression }: Readonly<Record<string, unknown>>): "take" | "release" | undefined {
  if (String(UpdateExpression).includes("writer = :writer")) return "take";
  return String(UpdateExpression).startsWith("REMOVE writer") ? "release" : undefined;
}

/** Makes another import the one that stores a day, whose lease has ended. */
async function takeDay(day: string): Promise<void> {
  await database.send(
    new UpdateItemCommand({
      TableName: tables.distributed,
      Key: { tile: { S: "parts" }, day: { S: day } },
      UpdateExpression: "SET writer = :writer, writerUntil = :until",
      ExpressionAttributeValues: { ":writer": { S: "another" }, ":until": { N: "0" } },
    }),
  );
}

/** Counts an import of a day by another one. */
async function storeDay(day: string): Promise<void> {
  await database.send(
    new UpdateItemCommand({
      TableName: tables.distributed,
      Key: { tile: { S: "parts" }, day: { S: day } },
      UpdateExpression: "ADD revision :one",
      ExpressionAttributeValues: { ":one": { N: "1" } },
    }),
  );
}

function row(geohash: string, time = times[0], people: number | string = 20): string {
  return `${geohash},${time},${people},,`;
}

test("cells of three characters are one prefix, whose tiles are added up in it", async () => {
  const files = {
    "a.csv": `${header}${["u04", "u0h", "u1h"].map((cell) => row(cell)).join("\n")}`,
  };
  const one = await importOnOneMachine(files, {});
  expect(await importDistributed(files, {})).toEqual({ status: "SUCCEEDED", output: one });
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
}, 180_000);

describe("what is refused is refused with the same words, and nothing is written", () => {
  const [cell] = ["u04zzz"];
  const row = (people: number | string, time = times[0], geohash = cell) => `${geohash},${time},${people},,`;
  const box: Box = [5.6, 44.98, 5.62, 44.995];

  const refused: readonly (readonly [string, Readonly<Record<string, string>>, Wanted])[] = [
    ["a bad row", { "a.csv": `${header}${row(5)}`, "b.csv": `${header}${row(7, times[1])}\n${row(-1)}` }, {}],
    [
      "a row that comes twice",
      { "a.csv": `${header}${row(5)}`, "b.csv": `${header}${row(6, times[1])}\n${row(5)}` },
      {},
    ],
    [
      "a row outside the area",
      { "a.csv": `${header}${row(5)}`, "b.csv": `${header}${row(5, times[0], "u0h000")}` },
      { box },
    ],
    [
      "another precision",
      { "a.csv": `${header}${row(5)}`, "b.csv": `${header}${row(5, times[0], "u04zz")}` },
      {},
    ],
    [
      "two dates of a weekday",
      { "a.csv": `${header}${row(5)}`, "b.csv": `${header}${row(5, times[2])}` },
      { typical: true },
    ],
    ["no rows", { "a.csv": header }, {}],
    ["a wrong name", { "a.txt": header }, {}],
    ["cells that are too coarse", { "a.csv": `${header}u0,${times[0]},5,,` }, {}],
  ];
  test.each(sampleOf(refused, 3))(
    "%s",
    async (_, files, wanted) => {
      const refusal = await importOnOneMachine(files, wanted).catch((error: Error) =>
        error.message.replaceAll(`${folder}/`, ""),
      );
      const distributed = await importDistributed(files, wanted);
      expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause: refusal });
      expect(await itemsOf(tables.distributed)).toEqual([]);
    },
    180_000,
  );

  test("files of one name are told apart by their folders", async () => {
    const files = {
      "north/a.csv": `${header}${row(5)}`,
      "south/a.csv": `${header}${row(6, times[1])}\n${row(5)}\n${row(-1)}`,
    };
    expect(await importDistributed(files, {})).toMatchObject({
      status: "FAILED",
      cause: expect.stringMatching(/^south\/a\.csv: line 4, people: /),
    });
  });

  test("a file without a name", async () => {
    const distributed = await importDistributed({ ".gz": gzipSync(header) }, {});
    const cause = ".gz: must end in .csv, .ndjson, .jsonl";
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause });
  });

  test("a file that only says it is compressed", async () => {
    const distributed = await importDistributed({ "a.csv.gz": header }, {});
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause: "a.csv.gz: is not gzip" });
  });

  test("a compressed file with a damaged part, which would be left out", async () => {
    const damaged = gzipSync(`${row(19, times[1])}\n`).fill(0, 0, 1);
    const content = Buffer.concat([gzipSync(`${header}${row(18)}\n`), damaged]);
    const distributed = await importDistributed({ "a.csv.gz": content }, {});
    const cause = "a.csv.gz: is not gzip to its end";
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause });
  });

  test.each([
    ["longer", `${header}${row(18)}0`],
    ["shorter", header],
  ])("a file that is %s by the time it is read", async (_, later) => {
    const replacing = async (payload: unknown) => {
      const { step, key = "" } = payload as { step: string; key?: string };
      if (step === "read") await bucket.put(key, later);
      return await handler(payload);
    };
    const distributed = await importDistributed({ "a.csv": `${header}${row(18)}` }, {}, 1, replacing);
    const cause = "a.csv: has changed while it was read";
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause });
    expect(await itemsOf(tables.distributed)).toEqual([]);
  });

  test("no files", async () => {
    const distributed = await importDistributed({}, {});
    expect(distributed).toMatchObject({
      status: "FAILED",
      error: "ImportError",
      cause: expect.stringMatching(/: has no files$/),
    });
  });

  test("another number for a cell that stays as it is published", async () => {
    const [first = "", second = "", third = ""] = await cellsOf(box);
    const published = { "a.csv": header + [first, second].map((one) => row(20, times[0], one)).join("\n") };
    const conflicting = {
      "b.csv": header + [row(30, times[0], second), row(20, times[0], third)].join("\n"),
    };
    await importOnOneMachine(published, {});
    await importDistributed(published, {});
    const before = await itemsOf(tables.distributed);
    const refusal = await importOnOneMachine(conflicting, {}).catch((error: Error) => error.message);
    const distributed = await importDistributed(conflicting, {});
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause: refusal });
    expect(refusal).toContain("was published with another number");
    expect(await itemsOf(tables.distributed)).toEqual(before);
  }, 180_000);
});
