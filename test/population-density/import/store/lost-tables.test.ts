import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import type { DayStorage } from "../../../../functions/population-density/import/publish/day-storage.ts";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { checkParts } from "../../../../functions/population-density/import/store/part-store.ts";
import { densityImports } from "../../../../functions/population-density/import/store/tables.ts";
import { observedDay } from "../../../../functions/population-density/tiles/store.ts";
import { densities } from "../../../../functions/population-density/tiles/table.ts";
import { putItem } from "../../../../shared/aws/database.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { type Table, tableVariable } from "../../../../shared/table.ts";
import { useOwnTable } from "../../../support/database.ts";
import {
  coarser,
  dayOf,
  freshTile,
  friday,
  monday,
  observed,
  peopleAt,
  signal,
  stored,
  tileOf,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

const storage: DayStorage = { ...observed, ...coarser };
const city = { 0: 400, 1: 4, 2: 9 };
const rest = { 3: 9, 4: 9, 5: 63 };
const day = observedDay(friday);

const storeCounts = (tile: string, counts: Readonly<Record<number, number>>, date = friday) =>
  storeDay(dayOf(date, tileOf(tile, { 8: counts })), storage);

/** The bytes that are published of a tile and of the tile at precision 6 around it. */
async function publishedIn(tile: string): Promise<string[]> {
  const items = [await stored(tile, day), await stored(tile.slice(0, -1), day)];
  return items.map((item) => Buffer.from(item?.hours ?? []).toString("base64"));
}

async function itemsIn(table: Table): Promise<Record<string, unknown>[]> {
  const client = new DynamoDBClient({});
  const items: Record<string, unknown>[] = [];
  const TableName = process.env[tableVariable(table)];
  for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
    items.push(...Items.map((item) => unmarshall(item)));
  }
  client.destroy();
  return items;
}

async function putAll(table: Table, items: readonly Record<string, unknown>[]): Promise<void> {
  for (const item of items) await putItem(table, item, {}, signal());
}

test("an import into an empty table of densities publishes each part as it was before the table was lost", async () => {
  const tile = freshTile();
  await storeCounts(tile, city);
  await storeCounts(tile, rest);
  const before = await publishedIn(tile);

  await useOwnTable(densities);
  await storeCounts(tile, { ...city, ...rest });

  expect(await publishedIn(tile)).toEqual(before);
  // Without the parts, all cells would be one, and the sums of the coarser cell others.
  await useOwnTable(densities);
  await useOwnTable(densityImports);
  await storeCounts(tile, { ...city, ...rest });
  expect(await publishedIn(tile)).not.toEqual(before);
});

test("an import of part of what a lost table had is refused unless it says what was published", async () => {
  const tile = freshTile();
  await storeCounts(tile, city);
  await useOwnTable(densities);
  await expect(storeCounts(tile, { 0: 400, 3: 50 })).rejects.toThrow("was published with another number");
  await storeCounts(tile, city);
  await storeCounts(tile, { 0: 400, 3: 50 });
  expect(await peopleAt(tile, day, 8, 3)).toBe(50);
});

test.each([
  ["of the same day", friday, city],
  ["of other cells of the day", friday, rest],
])("an import %s is refused when the parts of published densities are lost", async (_, date, counts) => {
  const tile = freshTile();
  await storeCounts(tile, city);
  const before = await itemsIn(densities);

  await useOwnTable(densityImports);

  await expect(storeCounts(tile, counts, date)).rejects.toThrow(
    `${friday}: densities were published, but their parts are not in the table of density-imports: ` +
      "without them an import could disclose suppressed counts. Restore that table as docs/recovery.md says",
  );
  expect(await itemsIn(densities)).toEqual(before);
});

test("the check of parts names the first day whose parts are lost and counts the others", async () => {
  await storeCounts(freshTile(), city);
  await storeCounts(freshTile(), city, monday);
  await checkParts();
  await useOwnTable(densityImports);
  await expect(checkParts()).rejects.toThrow(`${monday} and 1 more: densities were published`);
});

test("an import is refused when the parts are those from before the last import of the day", async () => {
  const tile = freshTile();
  await storeCounts(tile, city);
  const earlier = await itemsIn(densityImports);
  await storeCounts(tile, rest);

  await useOwnTable(densityImports);
  await putAll(densityImports, earlier);

  await expect(storeCounts(tile, rest)).rejects.toThrow(ImportError);
  await expect(checkParts()).rejects.toThrow(`${friday}: densities were published`);
});
