import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readFiles, readJournal } from "../../../functions/population-density/import/store/journal-store.ts";
import type { FindingCode } from "../../../functions/population-density/tiles/findings.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { declaredTable } from "../../../tools/local/declared/declared-table.ts";
import { embeddedCredentials } from "../../../tools/local/servers/backing-server.ts";
import { createTables } from "../../../tools/local/servers/database.ts";
import {
  aroundTheCorner,
  further,
  header,
  importDistributed,
  inTables,
  itemsIn,
  northOf,
  row,
  rowsOf,
  split,
  tables,
  times,
  useImports,
} from "../../support/distributed-import.ts";
import { sharedService } from "../../support/service.ts";

useImports([3, 6]);

/** Lets imports use an empty table of densities with the parts and the journal. */
async function loseDensities(): Promise<void> {
  const own = declaredTable(densities, `densities-${randomUUID()}`);
  await createTables(sharedService.databaseEndpoint, embeddedCredentials, [own]);
  Object.assign(tables.distributed, { densities: own.TableName });
}

test("the distributed import restores lost densities from the same files, byte by byte", async () => {
  const wanted = { box: northOf(aroundTheCorner), marketShare: 0.31, provenance: { source: "A" } };
  const larger = { box: northOf(further) };
  const city = split(await rowsOf(wanted.box, { hours: times.slice(0, 2) }), 2, 1);
  const country = split(await rowsOf(larger.box, { hours: times.slice(0, 2) }), 3, 2);
  await importDistributed(city, wanted);
  await importDistributed(country, larger);
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
  expect(await importDistributed(country, { ...larger, replay: 2 })).toMatchObject({ status: "SUCCEEDED" });

  expect(await itemsIn(tables.distributed.densities)).toEqual(before);
  expect(await inTables(tables.distributed, readJournal)).toEqual(journal);
});

test("a distributed replay of an accepted and an excluded day asks for neither again, byte by byte", async () => {
  const on = (date: string, people: number) => row("u04z00", `${date}T08:00:00Z`, people);
  const usual = { "a.csv": `${header}${on("2026-11-02", 1_000)}\n${on("2026-11-09", 1_010)}\n` };
  const unusual = { "a.csv": `${header}${on("2026-11-16", 9_000)}\n` };
  await importDistributed(usual, {});
  const accepted: FindingCode[] = ["PEOPLE_UNUSUAL", "LARGEST_CELL_UNUSUAL"];
  await importDistributed(unusual, { accepted, isExcluded: true });
  const before = await itemsIn(tables.distributed.densities);

  await loseDensities();
  // The exclusion has the number before that of its import.
  expect(await importDistributed(usual, { replay: 1 })).toMatchObject({ status: "SUCCEEDED" });
  expect(await importDistributed(unusual, { replay: 3 })).toMatchObject({ status: "SUCCEEDED" });

  expect(await itemsIn(tables.distributed.densities)).toEqual(before);
});

test("the distributed import refuses a replay whose files differ, are missing or are more", async () => {
  const files = {
    "a.csv": `${header}${row("u04zzz")}\n${row("u04zzy")}\n`,
    "b.csv": `${header}${row("u04zzz", times[1])}\n`,
  };
  await importDistributed(files, {});
  await loseDensities();

  const others = { "a.csv": `${header}${row("u04zzy")}\n`, "c.csv": files["b.csv"] };
  expect(await importDistributed(others, { replay: 1 })).toEqual({
    status: "FAILED",
    error: "ImportError",
    cause:
      "a.csv: differs from the file that import 1 has read\n" +
      "b.csv: is not there, and import 1 has read it\n" +
      "c.csv: is there, and import 1 has not read it",
  });
  expect(await itemsIn(tables.distributed.densities)).toEqual([]);
});
