import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readFiles, readJournal } from "../../../functions/population-density/import/store/journal-store.ts";
import type { FindingCode } from "../../../functions/population-density/tiles/findings.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { embeddedCredentials } from "../../../tools/local/servers/backing-server.ts";
import { createTables } from "../../../tools/local/servers/database.ts";
import { declaredTable } from "../../../tools/local/servers/declared-table.ts";
import {
  aroundTheCorner,
  further,
  header,
  importDistributed,
  inTables,
  itemsIn,
  row,
  rowsOf,
  split,
  tables,
  times,
  useImports,
} from "../../support/distributed-import.ts";
import { sharedService } from "../../support/service.ts";

useImports();

/** Lets imports use an empty table of densities with the parts and the journal. */
async function loseDensities(): Promise<void> {
  const own = declaredTable(densities, `densities-${randomUUID()}`);
  await createTables(sharedService.databaseEndpoint, embeddedCredentials, [own]);
  Object.assign(tables.distributed, { densities: own.name });
}

test("the distributed import restores lost densities from the same files, byte by byte", async () => {
  const wanted = { box: aroundTheCorner, marketShare: 0.31, provenance: { source: "A" } };
  const city = split(await rowsOf(aroundTheCorner, { hours: times.slice(0, 2) }), 2, 1);
  const country = split(await rowsOf(further, { hours: times.slice(0, 2) }), 3, 2);
  await importDistributed(city, wanted);
  await importDistributed(country, { box: further });
  const before = await itemsIn(tables.distributed.densities);
  const journal = await inTables(tables.distributed, readJournal);
  expect(journal).toMatchObject([
    { number: 1, endedAt: expect.any(String), options: { marketShare: 0.31, threshold: 10 } },
    { number: 2, endedAt: expect.any(String), options: { marketShare: 1 } },
  ]);
  expect(await inTables(tables.distributed, () => readFiles(1))).toMatchObject([
    { name: "0.csv", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    { name: "1.csv.gz" },
  ]);

  await loseDensities();
  expect(await importDistributed(city, { ...wanted, replay: 1 })).toMatchObject({ status: "SUCCEEDED" });
  expect(await importDistributed(country, { box: further, replay: 2 })).toMatchObject({
    status: "SUCCEEDED",
  });

  expect(await itemsIn(tables.distributed.densities)).toEqual(before);
  expect(await inTables(tables.distributed, readJournal)).toEqual(journal);
}, 300_000);

test("a distributed replay of an accepted and an excluded day asks for neither again, byte by byte", async () => {
  const rowsOn = (date: string, people: number) => ({
    "a.csv": `${header}${row("u04z00", `${date}T08:00:00Z`, people)}\n`,
  });
  await importDistributed(rowsOn("2026-11-02", 1_000), {});
  await importDistributed(rowsOn("2026-11-09", 1_010), {});
  const accepted: FindingCode[] = ["PEOPLE_UNUSUAL", "LARGEST_CELL_UNUSUAL"];
  await importDistributed(rowsOn("2026-11-16", 9_000), { accepted, isExcluded: true });
  const before = await itemsIn(tables.distributed.densities);

  await loseDensities();
  // The exclusion has the number before that of its import.
  for (const [replay, files] of [
    [1, rowsOn("2026-11-02", 1_000)],
    [2, rowsOn("2026-11-09", 1_010)],
    [4, rowsOn("2026-11-16", 9_000)],
  ] as const) {
    expect(await importDistributed(files, { replay })).toMatchObject({ status: "SUCCEEDED" });
  }

  expect(await itemsIn(tables.distributed.densities)).toEqual(before);
}, 300_000);

test("the distributed import refuses a replay whose files differ, are missing or are more", async () => {
  const rows = await rowsOf(aroundTheCorner, { hours: times.slice(0, 1) });
  const files = {
    "a.csv": header + rows.join("\n"),
    "b.csv": `${header}${rows[0]?.replace("T08:", "T09:")}\n`,
  };
  await importDistributed(files, { box: aroundTheCorner });
  await loseDensities();

  const others = { "a.csv": header + rows.slice(1).join("\n"), "c.csv": files["b.csv"] };
  expect(await importDistributed(others, { box: aroundTheCorner, replay: 1 })).toEqual({
    status: "FAILED",
    error: "ImportError",
    cause:
      "a.csv: differs from the file that import 1 has read\n" +
      "b.csv: is not there, and import 1 has read it\n" +
      "c.csv: is there, and import 1 has not read it",
  });
  expect(await itemsIn(tables.distributed.densities)).toEqual([]);
}, 300_000);
