import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { geohashesOf } from "../../functions/population-density/cover/cover.ts";
import type { ImportOrder } from "../../functions/population-density/distributed-import/execution-objects.ts";
import { handler } from "../../functions/population-density/distributed-import/import-densities.ts";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import type { Provenance } from "../../functions/population-density/tiles/data-set.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { densityImportDefinition } from "../../infra/density-import-definition.ts";
import { tableVariable } from "../../shared/table.ts";
import { coveredAreaIn } from "../../tools/import/density/area.ts";
import {
  type DensityImport,
  type DensityImported,
  importDensity,
} from "../../tools/import/density/import-density.ts";
import { declaredTable } from "../../tools/local/declared/declared-table.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createTables } from "../../tools/local/servers/database.ts";
import { useTables } from "./database.ts";
import { startBucket, type TestBucket } from "./objects.ts";
import { type OwnFolder, useOwnFolder } from "./own-folder.ts";
import { seeded } from "./random.ts";
import { sharedService } from "./service.ts";
import { execute } from "./state-machine.ts";

/** A folder for files, a bucket and the database, for the tests around `useImports`. */
export let folder: OwnFolder;
export let bucket: TestBucket;
export let database: DynamoDBClient;

/** Tables that imports write. */
export interface DensityTables {
  readonly densities: string;
  readonly imports: string;
}

/** The tables of the import on one machine, and those of the distributed one, of the test that runs. */
export let tables: { readonly one: DensityTables; readonly distributed: DensityTables };

let precisions: readonly number[];

/**
 * Lets the tests around the call import on one machine and with the state machine, each into a table of its own.
 * @param stored the precisions that are stored: must have 3, whose tiles hold several prefixes.
 */
export function useImports(stored: readonly number[] = [3, 4, 5, 6]): void {
  folder = useOwnFolder();
  beforeAll(async () => {
    useTables();
    precisions = stored;
    process.env.DENSITY_PRECISIONS = precisions.join();
    process.env.DENSITY_K = "10";
    bucket = await startBucket();
    database = new DynamoDBClient({});
  });
  afterAll(async () => {
    delete process.env.DENSITY_PRECISIONS;
    delete process.env.DENSITY_K;
    useTables();
    database.destroy();
    await bucket.close();
  });
  beforeEach(async () => {
    const own = [densities, densityImports, densities, densityImports].map((table) =>
      declaredTable(table, `${table.name}-${randomUUID()}`),
    );
    await createTables(sharedService.databaseEndpoint, embeddedCredentials, own);
    const [first = "", second = "", third = "", fourth = ""] = own.map(({ TableName }) => TableName);
    tables = {
      one: { densities: first, imports: second },
      distributed: { densities: third, imports: fourth },
    };
  });
}

/** Every item, attribute by attribute and byte by byte; but how often a list of parts or the data set was written. */
export async function itemsOf({ densities, imports }: DensityTables): Promise<string[]> {
  return [...(await itemsIn(densities)), ...(await itemsIn(imports))];
}

/** The items of one of the tables, as `itemsOf` has them. */
export async function itemsIn(table: string): Promise<string[]> {
  const items: string[] = [];
  for await (const { Items = [] } of paginateScan({ client: database }, { TableName: table })) {
    for (const item of Items) {
      // The journal says how it was imported.
      if (item.kind !== undefined && !/^(?:parts$|cells\/)/.test(item.kind.S ?? "")) continue;
      if (["parts", "data-set"].includes(item.tile?.S ?? item.kind?.S ?? "")) delete item.revision;
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

/** Runs something that reads and writes the tables. */
export async function inTables<Result>(
  { densities: tiles, imports }: DensityTables,
  run: () => Promise<Result>,
): Promise<Result> {
  process.env[tableVariable(densities)] = tiles;
  process.env[tableVariable(densityImports)] = imports;
  return await run();
}

/** Degrees. At 45 degrees north and 5.625 degrees east four geohashes of three characters meet. */
export type Box = readonly [west: number, south: number, east: number, north: number];

/** A part of each of the four. */
export const aroundTheCorner: Box = [5.55, 44.96, 5.72, 45.04];

/** A larger box around it. */
export const further: Box = [5.55, 44.96, 5.76, 45.06];

/** A box next to it that overlaps the larger one. */
export const neighbour: Box = [5.7, 45.0, 5.82, 45.06];

/** The northern part of a box around the corner: in two of the four. */
export function northOf([west, , east, north]: Box): Box {
  return [west, 45, east, north];
}

/** That of the counted cells. */
export const precision = 6;

function areaOf([west, south, east, north]: Box) {
  const at = (longitude: number, latitude: number) => [longitude, latitude];
  const ring = [at(west, south), at(east, south), at(east, north), at(west, north), at(west, south)];
  return { type: "Polygon", coordinates: [ring] };
}

/** Hours of two Mondays and of a Tuesday. */
export const times = [
  "2026-11-02T08:00:00Z",
  "2026-11-02T09:00:00Z",
  "2026-11-09T08:00:00Z",
  "2026-11-10T23:00:00Z",
];

/** Rows of two cells of three: most have fewer people than K, so that there are many groups. */
export async function rowsOf(box: Box, { hours = times, seed = 1 } = {}): Promise<string[]> {
  const cells = await cellsOf(box);
  const random = seeded(seed);
  return hours.flatMap((time) =>
    cells.flatMap((cell) => {
      if (random() < 0.33) return [];
      const people = random() < 0.6 ? Math.floor(10 * random()) : Math.floor(1e6 * random()) / 1_000;
      const range = random() < 0.5 ? "," : `${people * random()},${people * (1 + random())}`;
      return [`${cell},${time},${people},${range}`];
    }),
  );
}

/** The geohashes of the cells in a box. */
export async function cellsOf(box: Box): Promise<string[]> {
  const { rings } = await coveredAreaIn(await folder.write("cells.geojson", areaOf(box)));
  const { polygonOf } = await import("../../functions/population-density/cover/polygon.ts");
  const { coverOf } = await import("../../functions/population-density/cover/cover.ts");
  return rings.flatMap((ring) => {
    const polygon = polygonOf(ring);
    return polygon === undefined ? [] : geohashesOf(coverOf(polygon, precision), precision);
  });
}

/** The first line of a CSV file with ranges. */
export const header = "geohash,startTime,people,minPeople,maxPeople\n";

/** How an import differs from one of observed days with K = 10 and no area. */
export interface Wanted extends Pick<DensityImport, "accepted" | "calendar" | "isExcluded"> {
  readonly box?: Box;
  readonly typical?: boolean;
  readonly isRecounted?: boolean;
  readonly marketShare?: number;
  readonly provenance?: Provenance;
  readonly threshold?: number;
  /** The number of the import in the journal that is made again. */
  readonly replay?: number;
}

/** Imports files with the command, into the table of one machine. @returns what the state machine says of it too. */
export async function importOnOneMachine(
  files: Readonly<Record<string, string>>,
  wanted: Wanted,
): Promise<Omit<DensityImported, "extent">> {
  const paths: string[] = [];
  for (const [name, content] of Object.entries(files)) paths.push(await folder.write(name, content));
  const coverage = wanted.box && (await folder.write("area.geojson", areaOf(wanted.box)));
  const { extent: _, ...counts } = await inTables(tables.one, () =>
    importDensity({
      files: paths,
      coverage,
      typical: wanted.typical === true,
      isRecounted: wanted.isRecounted,
      marketShare: wanted.marketShare,
      provenance: wanted.provenance,
      accepted: wanted.accepted,
      calendar: wanted.calendar,
      isExcluded: wanted.isExcluded,
      precisions,
      threshold: 10,
    }),
  );
  return counts;
}

const definition = densityImportDefinition({
  partition: "aws",
  functionArn: "import",
  bucketName: "density-import",
});

/** Id of the execution that was started last. */
export let lastId = "";

/** Imports files with the state machine, in an order that follows from a seed, into the distributed table. */
export async function importDistributed(
  files: Readonly<Record<string, string | Uint8Array>>,
  wanted: Wanted,
  seed = 1,
  invoke: (payload: unknown) => Promise<unknown> = handler,
) {
  const id = randomUUID();
  lastId = id;
  for (const [name, content] of Object.entries(files)) await bucket.put(`counts/${id}/${name}`, content);
  if (wanted.box !== undefined) {
    const area = await coveredAreaIn(await folder.write("area.geojson", areaOf(wanted.box)));
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
    precisions: [...precisions],
    provenance: wanted.provenance,
    accepted: wanted.accepted && [...wanted.accepted],
    calendar: wanted.calendar,
    isExcluded: wanted.isExcluded,
    replay: wanted.replay,
  };
  const random = seeded(seed);
  const services = {
    invoke: async (_: string, payload: unknown) => await invoke(payload),
    listObjects: async (_: string, prefix: string) => await bucket.list(prefix),
    getObject: async (_: string, key: string) => await bucket.get(key),
  };
  return await inTables(tables.distributed, () =>
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
export function split(
  rows: readonly string[],
  count: number,
  seed: number,
): Record<string, string | Uint8Array> {
  const random = seeded(seed);
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

/** A row of people in a cell at a time. */
export function row(geohash: string, time = times[0], people: number | string = 20): string {
  return `${geohash},${time},${people},,`;
}
