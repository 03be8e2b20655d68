import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { mergedOutline } from "../../../functions/population-density/cover/outline.ts";
import { withImport } from "../../../functions/population-density/tiles/data-set.ts";
import {
  addToDataSet,
  checkPublishing,
  readDataSet,
  recordPublishing,
} from "../../../functions/population-density/tiles/data-set-store.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { outlineOfBox } from "../../support/coverage.ts";
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

test("there is no data set before the first import", async () => {
  expect(await readDataSet(inTime())).toBeUndefined();
});

test("the data set holds all coverage, the latest observed day and each source once", async () => {
  const [inNorth, inSouth] = [north, south].map((coverage) => ({
    coverage,
    outline: outlineOfBox(coverage),
  }));
  await addToDataSet({ ...inNorth, newestDay: "2026-11-20", provenance: { source: "A", licence: "X" } });
  await addToDataSet({ ...inSouth, newestDay: "2026-11-19", provenance: { source: "B" } });
  await addToDataSet({ ...inNorth, provenance: { source: "A", licence: "Y" } });
  const { outline, ...found } = (await readDataSet(inTime())) ?? {};
  expect(outline).toEqual(mergedOutline(outlineOfBox(south), outlineOfBox(north)));
  expect(outline?.coordinates).toHaveLength(2);
  expect(found).toEqual({
    coverage: { west: 4, south: 43, east: 6, north: 46 },
    newestDay: "2026-11-20",
    provenance: [{ source: "A", licence: "Y" }, { source: "B" }],
    thresholds: [],
    precisions: [],
    revision: 3,
  });
});

test("four imports that end at the same time all reach the data set", async () => {
  const days = ["2026-11-18", "2026-11-20", "2026-11-19", "2026-11-17"];
  await Promise.all(days.map((newestDay) => addToDataSet({ newestDay, provenance: { source: newestDay } })));
  const found = await readDataSet(inTime());
  expect(found).toMatchObject({ newestDay: "2026-11-20", revision: days.length });
  expect(found?.provenance.map(({ source }) => source).sort()).toEqual([...days].sort());
});

test("the data set names the latest twenty of 21 sources", () => {
  const sources = Array.from({ length: 21 }, (_, index) => ({ source: `source ${index}` }));
  const after = sources.reduce<ReturnType<typeof withImport> | undefined>(
    (before, provenance) => withImport(before, { provenance }),
    undefined,
  );
  expect(after?.provenance).toEqual(sources.slice(1).reverse());
});

const ten = { threshold: 10, precisions: [6, 7] };
const twenty = { threshold: 20, precisions: [6, 7, 8] };

test("a later import may raise K from 10 to 20 and add precision 8", async () => {
  await recordPublishing(ten, "2026-11-14");
  await addToDataSet({ newestDay: "2026-11-14", provenance: { source: "A" } });
  await recordPublishing(ten, "2026-11-13");
  await recordPublishing(ten, undefined);
  await recordPublishing(twenty, "2026-11-21");
  expect(await readDataSet(inTime())).toEqual({
    newestDay: "2026-11-14",
    provenance: [{ source: "A" }],
    thresholds: [
      { threshold: 10, newestDay: "2026-11-14" },
      { threshold: 20, newestDay: "2026-11-21" },
    ],
    precisions: [6, 7, 8],
    revision: 3,
  });
});

test("of two first imports at once with other time zones, one is refused and names both, unless it replaces the zone", async () => {
  const inZone = (timeZone: string) => ({ ...ten, calendar: { timeZone, holidays: [] } });
  const zones = ["Europe/Madrid", "America/Lima"];
  const ended = await Promise.allSettled(zones.map((zone) => recordPublishing(inZone(zone), undefined)));

  const refused = ended.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
  expect(refused).toHaveLength(1);
  for (const zone of zones) expect(refused[0]).toContain(zone);
  const stays = (await readDataSet(inTime()))?.calendar?.timeZone ?? "";
  const [other = ""] = zones.filter((zone) => zone !== stays);
  await recordPublishing({ ...inZone(other), replacesTimeZone: true }, undefined);
  expect((await readDataSet(inTime()))?.calendar?.timeZone).toBe(other);
});

test.each([
  [
    "a smaller K",
    { ...twenty, threshold: 15 },
    "DENSITY_K is 15, but densities in the table were imported with 20: K may be raised, not lowered. " +
      "Deploy with 20, or use another table",
  ],
  [
    "fewer precisions",
    { ...twenty, precisions: [7, 9] },
    "DENSITY_PRECISIONS is 7,9, but densities in the table were imported at 6,8 too: " +
      "precisions may be added, not removed. Deploy with these, or use another table",
  ],
])("an import with %s than stored is refused, and nothing is written", async (_, publishing, said) => {
  await recordPublishing(ten, "2026-11-14");
  await recordPublishing(twenty, "2026-11-21");
  const before = await readDataSet(inTime());
  await expect(checkPublishing(publishing)).rejects.toThrow(said);
  await expect(recordPublishing(publishing, "2026-11-28")).rejects.toThrow(said);
  expect(await readDataSet(inTime())).toEqual(before);
});
