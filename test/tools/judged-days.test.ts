import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { outputNames } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { dayMilliseconds, dayOf } from "../../shared/calendar.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { freshTile } from "../support/densities.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
let outputs: string;
let cell: string;
let now: number;
beforeEach(async () => {
  await useOwnDensityTables();
  outputs = await folder.write("outputs.json", stackOutputs({ [outputNames.densityPrecisions]: "7" }));
  cell = `${freshTile()}00`;
  now = Date.now();
  useShell();
});
afterEach(() => vi.unstubAllEnvs());

/** Yesterday's weekday, so many weeks earlier: `ncs exclude day` takes days that are not older than 100 days. */
function dateBefore(weeks: number): string {
  return dayOf(new Date(now - (1 + 7 * weeks) * dayMilliseconds));
}

async function importPeople(weeksAgo: number, people: number, ...options: string[]) {
  const rows = ["08", "09"].map((hour) => `${cell},${dateBefore(weeksAgo)}T${hour}:00:00Z,${people}`);
  const counts = await folder.write("counts.csv", ["geohash,startTime,people", ...rows].join("\n"));
  return await runNcs(
    ["import", "density", counts, "--coverage", "rows", "--outputs", outputs].concat(options),
  );
}

/** Whether each observed day of `ncs list densities --json` stays out of typical weekdays. */
async function listedDays(): Promise<Record<string, boolean>> {
  const { stdout } = await runNcs(["list", "densities", "--outputs", outputs, "--json"]);
  const listed = z.object({ quality: z.array(z.object({ day: z.string(), isExcluded: z.boolean() })) });
  const { quality } = listed.parse(JSON.parse(stdout));
  return Object.fromEntries(quality.map(({ day, isExcluded }) => [day, isExcluded]));
}

test("ncs import density --thresholds refuses and warns from where the file says, and prints it with --dry-run too", async () => {
  await importPeople(2, 1_000);
  await importPeople(1, 1_000);
  const thresholds = async (critical: number) =>
    await folder.write("thresholds.json", { people: { warning: 0.05, critical }, leastPeople: 900 });
  const day = dateBefore(0);
  const found = `${day} PEOPLE_UNUSUAL: 08:00–10:00 UTC: up to 15 % fewer people than on the last two`;

  expect(await importPeople(0, 850, "--dry-run")).toEqual({
    code: 0,
    stdout: `2 rows could be imported into ${stackNames.dev}; nothing was written\n`,
    stderr: "",
  });
  expect(await importPeople(0, 850, "--thresholds", await thresholds(0.1))).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(found),
  });
  expect(await listedDays()).toEqual({ [dateBefore(2)]: false, [dateBefore(1)]: false });
  expect(await importPeople(0, 850, "--thresholds", await thresholds(0.2), "--dry-run")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`^warning: ${found} \\w+ \\(850 at 08:00, usual 950–1,050\\)\n2 rows could be`),
    ),
  });
  expect(
    await importPeople(0, 850, "--thresholds", await thresholds(0.1), "--accept", "PEOPLE_UNUSUAL"),
  ).toMatchObject({ code: 0, stdout: expect.stringContaining(`accepted: ${found}`) });
});

test("ncs import density --thresholds names what is wrong in the file", async () => {
  const file = await folder.write("wrong.json", { people: { warning: 2, critical: 0.4 }, equall: 50 });
  const { code, stderr } = await importPeople(0, 850, "--thresholds", file);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/wrong\.json: people\.warning: .*\n.*equall/)]);
});

test("ncs exclude day takes a day out of typical weekdays and back, and ncs list densities says so", async () => {
  for (const weeks of [2, 1, 0]) await importPeople(weeks, 1_000);
  const day = dateBefore(1);
  const exclude = (...options: string[]) => runNcs(["exclude", "day", day, "--outputs", outputs, ...options]);

  expect(await exclude()).toEqual({
    code: 0,
    stdout: `${day} stays out of typical weekdays: 6 of 6 DynamoDB items changed in ${stackNames.dev}\n`,
    stderr: "",
  });
  expect(await listedDays()).toEqual({ [dateBefore(2)]: false, [day]: true, [dateBefore(0)]: false });
  expect(await exclude()).toMatchObject({
    stdout: expect.stringContaining(": 0 of 6 DynamoDB items changed"),
  });
  expect(await exclude("--undo")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      `${day} is taken back into typical weekdays: 6 of 6 DynamoDB items changed`,
    ),
  });
  expect(await listedDays()).toMatchObject({ [day]: false });
});

test("ncs exclude day exits with 1 for a day that was not imported, and for what is no date", async () => {
  const exclude = (date: string) => runNcs(["exclude", "day", date, "--outputs", outputs]);
  expect(await exclude(dateBefore(0))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("was not imported"),
  });
  expect(await exclude("23.11.2026")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("It must be a date of the calendar"),
  });
});

test("ncs import density warns of an hour that is not in the files, although two weeks before have it", async () => {
  await importPeople(2, 1_000);
  await importPeople(1, 1_000);
  const day = dateBefore(0);
  const counts = await folder.write("hour.csv", `geohash,startTime,people\n${cell},${day}T08:00:00Z,1000`);
  const { stdout } = await runNcs(["import", "density", counts, "--coverage", "rows", "--outputs", outputs]);
  expect(stdout).toContain(
    `warning: ${day} HOURS_MISSING: 09:00–10:00 UTC: not in the files, although 2 weeks before have it\n`,
  );
});

test("ncs describe densities tells of grids of three cities that nobody was counted, and names three areas", async () => {
  const cities = [
    [4.83, 45.76],
    [10.75, 59.91],
    [36.82, -1.29],
  ] as const;
  for (const [longitude, latitude] of cities) {
    const grid = await folder.write("grid.csv", `lat,lon,people\n${latitude},${longitude},5000\n`);
    const bbox = [longitude - 0.001, latitude - 0.001, longitude + 0.001, latitude + 0.001].join();
    const about = [
      "--kind",
      "points",
      "--source",
      "A census",
      "--licence",
      "CC-BY-4.0",
      "--outputs",
      outputs,
    ];
    const { code, stderr } = await runNcs(["import", "population", grid, "--bbox", bbox, ...about]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  }
  const out = join(folder.path, "grids.md");
  await runNcs(["describe", "densities", "--outputs", outputs, "--out", out]);
  const page = await readFile(out, "utf8");
  expect(page).not.toContain("everybody was counted");
  expect(page).not.toContain("devices are counted");
  expect(page).toContain(
    "3 imports of a grid of residents, spread over the day by an assumed curve: there, nobody",
  );
  expect(page).toContain("None: nobody was counted, so no sample is extrapolated.");
  expect(page).toContain("3 areas that do not touch each other, each within:\n\n- ");
  expect(
    page.match(/^- [-\d.]+ to [-\d.]+ degrees north and [-\d.]+ to [-\d.]+ degrees east$/gm),
  ).toHaveLength(3);
});

test("ncs describe densities writes source, coverage, K, market share, typical hours, their error and judged days", async () => {
  const out = join(folder.path, "method.md");
  const describe = () => runNcs(["describe", "densities", "--outputs", outputs, "--out", out]);
  expect(await describe()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing was imported"),
  });
  const about = ["--source", "The network of Example", "--licence", "CC-BY-4.0", "--market-share", "0.5"];
  await importPeople(2, 500, ...about);
  await importPeople(1, 500, ...about);
  await importPeople(0, 250, ...about, "--accept", "PEOPLE_UNUSUAL", "--exclude");

  expect(await describe()).toEqual({ code: 0, stdout: `wrote ${out}\n`, stderr: "" });

  const page = await readFile(out, "utf8");
  const [title, ...sections] = page.split("\n## ");
  expect(title).toContain("# Population densities");
  expect(sections.map((section) => section.split("\n")[0])).toEqual([
    "Source and licence",
    "Coverage",
    "Precisions",
    "Confidentiality",
    "Extrapolation",
    "Typical hours",
    "Measured error of typical hours",
    "Judged days",
    "Known limits",
  ]);
  const [source, coverage, precisions, k, share, typical, error, days] = sections;
  expect(source).toContain("- The network of Example, CC-BY-4.0");
  expect(source).toContain("3 imports of files of counted people.");
  expect(coverage).toContain(`1 cell was covered on ${dateBefore(0)}`);
  expect(precisions).toContain("Geohashes of 7 characters");
  expect(k).toContain("fewer than K = 10 counted people");
  expect(share).toContain("Counts are of a share of all people: 50.0 %.");
  expect(typical).toContain("the mean of the same local hour (UTC) of the last 4 observed weeks");
  expect(error).toMatch(/Measured within .* degrees east; elsewhere it is not known\./);
  expect(error).toMatch(/\| 7 \| \d+ \| 1 \| [\d.]+ % \| [\d.]+ % \|/);
  expect(days).toMatch(
    new RegExp(
      `\\| ${dateBefore(0)} \\| 2 \\| 500 \\| 1 \\| 0\\.0 % \\| critical PEOPLE_UNUSUAL: .*; not in typical weekdays \\|`,
    ),
  );
  expect(days).toContain(`| ${dateBefore(1)} | 2 | 1,000 | 1 | 0.0 % |  |`);
});
