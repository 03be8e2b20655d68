import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withImport } from "../../../functions/population-density/tiles/data-set.ts";
import { addToDataSet, readDataSet } from "../../../functions/population-density/tiles/data-set-store.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { useOwnTable, useTables } from "../../support/database.ts";

beforeEach(async () => {
  useTables();
  await useOwnTable(densities);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const inTime = () => AbortSignal.timeout(60_000);
const north = { west: 4, south: 45, east: 5, north: 46 };
const south = { west: 4.5, south: 43, east: 6, north: 44 };

test("there is none before the first import", async () => {
  expect(await readDataSet(inTime())).toBeUndefined();
});

test("it holds what all imports covered, the latest observed day, and each source once", async () => {
  await addToDataSet({ coverage: north, newestDay: "2026-11-20", provenance: { source: "A", licence: "X" } });
  await addToDataSet({ coverage: south, newestDay: "2026-11-19", provenance: { source: "B" } });
  await addToDataSet({ coverage: north, provenance: { source: "A", licence: "Y" } });
  expect(await readDataSet(inTime())).toEqual({
    coverage: { west: 4, south: 43, east: 6, north: 46 },
    newestDay: "2026-11-20",
    provenance: [{ source: "A", licence: "Y" }, { source: "B" }],
    revision: 3,
  });
});

test("imports that end at the same time lose nothing", async () => {
  const days = ["2026-11-18", "2026-11-20", "2026-11-19", "2026-11-17"];
  await Promise.all(days.map((newestDay) => addToDataSet({ newestDay, provenance: { source: newestDay } })));
  const found = await readDataSet(inTime());
  expect(found).toMatchObject({ newestDay: "2026-11-20", revision: days.length });
  expect(found?.provenance.map(({ source }) => source).sort()).toEqual([...days].sort());
});

test("it forgets the oldest source beyond twenty", () => {
  const sources = Array.from({ length: 21 }, (_, index) => ({ source: `source ${index}` }));
  const after = sources.reduce<ReturnType<typeof withImport> | undefined>(
    (before, provenance) => withImport(before, { provenance }),
    undefined,
  );
  expect(after?.provenance).toEqual(sources.slice(1).reverse());
});
