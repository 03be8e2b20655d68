import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { outputNames } from "../../infra/output-names.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { freshTile } from "../support/densities.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
let outputs: string;
beforeEach(async () => {
  await useOwnDensityTables();
  outputs = await folder.write("outputs.json", stackOutputs({ [outputNames.densityPrecisions]: "7" }));
  useShell();
});
afterEach(() => vi.unstubAllEnvs());

async function importCounts(rows: readonly string[], ...options: string[]) {
  const counts = await folder.write("counts.csv", ["geohash,startTime,people", ...rows].join("\n"));
  return await runNcs(
    ["import", "density", counts, "--coverage", "rows", "--outputs", outputs].concat(options),
  );
}

test("ncs list densities prints the calendar of the imports, how far typical weekdays were from each day, and how it was judged", async () => {
  const holidays = await folder.write(
    "holidays.csv",
    "name,date\nChristmas,2026-12-25\nNew Year,2027-01-01\n",
  );
  const cell = `${freshTile()}00`;
  const calendar = ["--time-zone", "Europe/Madrid", "--holidays", holidays];
  await importCounts([`${cell},2026-10-19T06:00:00Z,100`], ...calendar);
  // The same local hour a week later, in winter.
  await importCounts([`${cell},2026-10-26T07:00:00Z,125`]);

  const { stdout } = await runNcs(["list", "densities", "--outputs", outputs]);
  const { west, south, east, north } = boxOf(cell);
  const box = `${west},${south},${east},${north}`;
  expect(stdout.split("\n")).toEqual([
    "observed until:   2026-10-26",
    "precisions:       7",
    "K:                10",
    "sources:          not recorded",
    "typical weekdays: in Europe/Madrid, 2 holidays from 2026-12-25 to 2027-01-01",
    `       day  precision  cells × hours  weeks    WAPE  within range  ${"box".padStart(box.length)}`,
    `2026-10-26          7              1      1  20.0 %         0.0 %  ${box}`,
    "       day  hours  people  cells  suppressed  judgement",
    "2026-10-26      1     125      1       0.0 %       good",
    "2026-10-19      1     100      1       0.0 %       good",
    "",
  ]);
});

test("ncs import density refuses another time zone than the remembered one and names both, unless it shall replace it", async () => {
  const rows = [`${freshTile()}00,2026-10-19T06:00:00Z,100`];
  const first = await importCounts(rows, "--time-zone", "Europe/Madrid");
  const same = await importCounts(rows, "--time-zone", "Europe/Madrid");
  const other = await importCounts(rows, "--time-zone", "America/Lima");
  const remembered = await runNcs(["list", "densities", "--outputs", outputs]);
  const replaced = await importCounts(rows, "--time-zone", "America/Lima", "--replace-time-zone");
  const changed = await runNcs(["list", "densities", "--outputs", outputs]);

  expect([first.code, same.code, other.code, replaced.code]).toEqual([0, 0, 1, 0]);
  expect(other.stderr).toContain(
    "--time-zone is America/Lima, but typical weekdays follow Europe/Madrid, and there is one time zone for all data: " +
      "leave it out, or add --replace-time-zone",
  );
  expect(remembered.stdout).toContain("typical weekdays: in Europe/Madrid");
  expect(changed.stdout).toContain("typical weekdays: in America/Lima");
});

test.each([
  [["--time-zone", "Europe/Lyon"], "the name of a time zone, such as Europe/Madrid"],
  [["--holidays", "2026.csv", "name,day\nChristmas,2026-12-25"], "2026.csv: has no column date"],
  [["--holidays", "2026.csv", "date\n2026-12-25\n2026-02-30"], "2026.csv: row 2: must be a date, YYYY-MM-DD"],
  [["--holidays", "2026.json", '["25.12.2026"]'], "2026.json: 0: must be a date, YYYY-MM-DD"],
  [["--holidays", "2026.txt", "2026-12-25"], "2026.txt: must end in .json or .csv"],
])("ncs import density %j exits with 1 and says: %s", async ([option = "", value = "", content], said) => {
  const path = content === undefined ? value : await folder.write(value, content);
  const { code, stderr } = await importCounts([`${freshTile()}00,2026-10-19T06:00:00Z,100`], option, path);
  expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
});
