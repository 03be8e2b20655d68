import { join } from "node:path";
import { writeArrayBuffer } from "geotiff";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { readJournal } from "../../functions/population-density/import/store/journal-store.ts";
import { outputNames } from "../../infra/output-names.ts";
import { h3CellsOf, pointsOf } from "../../tools/import/density/population/csv-rows.ts";
import { curveOf } from "../../tools/import/density/population/curve.ts";
import { PeopleByCell } from "../../tools/import/density/population/people-by-cell.ts";
import type { Place, PopulationFile } from "../../tools/import/density/population/places.ts";
import { pixelsOf } from "../../tools/import/density/population/raster.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
let outputs: string;
beforeAll(async () => {
  useTables();
  await useOwnDensityTables();
  const { apiAddress, densityPrecisions } = outputNames;
  outputs = await folder.write(
    "outputs.json",
    stackOutputs({ [apiAddress]: "https://api.example.com/dev/", [densityPrecisions]: "7" }),
  );
});
beforeEach(() => useShell());
afterEach(() => vi.unstubAllEnvs());

async function all(places: PopulationFile): Promise<Place[]> {
  const found: Place[] = [];
  for await (const some of places) found.push(...some);
  return found;
}

/** How many people of a file are in a box. */
async function peopleIn(places: PopulationFile, box: Box): Promise<number> {
  const cells = new PeopleByCell(box, 5);
  for (const place of await all(places)) cells.add(place);
  return cells.people;
}

/** Pixels of a hundredth of a degree from 47 north, 8 east. */
async function geotiff(name: string, values: readonly number[], width: number, model = 2): Promise<string> {
  const buffer = await writeArrayBuffer(Float32Array.from(values), {
    width,
    height: values.length / width,
    ModelPixelScale: [0.01, 0.01, 0],
    ModelTiepoint: [0, 0, 0, 8, 47, 0],
    GTModelTypeGeoKey: model,
    GeographicTypeGeoKey: 4326,
    GDAL_NODATA: "-99999",
  });
  return await folder.write(name, new Uint8Array(buffer as ArrayBuffer));
}

describe("a file of residents", () => {
  test.each([
    ["sep=;", "sep=;\r\nname,a,b,c;lat;lon;people\r\nLyon;45.7;4.8;3\r\n"],
    ["sep=, in quotes", '\ufeff"sep=,"\nname,lat,lon,people\nLyon,45.7,4.8,3\n'],
    ["sep= and a tab", "SEP=\t\nname;a;b;c\tlat\tlon\tpeople\nLyon\t45.7\t4.8\t3\n"],
  ])("ncs import population reads a file of residents below Excel's first line %s", async (_, content) => {
    expect(await all(pointsOf(await folder.write("points.csv", content)))).toEqual([
      { latitude: 45.7, longitude: 4.8, people: 3, line: 3 },
    ]);
  });

  test.each([
    ["commas", "latitude,longitude,people\n47.1,8.2,10\n47.2,8.3,2.5\n"],
    ["semicolons and other names", "Lon;Pop;Lat\n8.2;10;47.1\n8.3;2.5;47.2\n"],
    ["X, Y and Z", "X,Y,Z\n8.2,47.1,10\n8.3,47.2,2.5\n"],
    ["a year in a name", "latitude,longitude,population_2020\n47.1,8.2,10\n47.2,8.3,2.5\n"],
    ["a usual name and a rare one", "index,y,lat,lon,value,pop\n0,5e6,47.1,8.2,3,10\n1,5e6,47.2,8.3,3,2.5\n"],
    [
      "semicolons, and commas in a name",
      "lat;lon;pop;name\n47.1;8.2;10;Lyon, Rhône\n47.2;8.3;2.5;Vaulx-en-Velin\n",
    ],
    ["commas, and other separators in a name", "lat,lon,pop,name\n47.1,8.2,10,a;b;c\td|e\n47.2,8.3,2.5,f\n"],
    [
      "separators in a quoted name of a column",
      '"a;b;c;d;e",lat,lon,pop\r\n,47.1,8.2,10\r\n"e, f",47.2,8.3,2.5\r\n',
    ],
    [
      "separators at the end of rows, and not of the header",
      "lat,lon,people\n47.1,8.2,10,\n47.2,8.3,2.5,,\n",
    ],
    ["spaces, exponents and quotes", 'Lat | Lon |"people"\n 47.1 | 82e-1 |"10"\n4.72E1|8.3| 2.5 \n'],
    ["tabs and a mark of the byte order", "\ufeffy\tx\tvalue\n47.1\t8.2\t10\n47.2\t8.3\t2.5\n"],
  ])("ncs import population reads a file of residents with %s", async (_, content) => {
    expect(await all(pointsOf(await folder.write("points.csv", content)))).toEqual([
      { latitude: 47.1, longitude: 8.2, people: 10, line: 2 },
      { latitude: 47.2, longitude: 8.3, people: 2.5, line: 3 },
    ]);
  });

  test("ncs import population reads a GeoTIFF inside the box, and says where it is if it has nothing of the box", async () => {
    const path = await geotiff("grid.tif", [1, 2, 3, 4, -99999, 6], 3);
    const box = { west: 8.0, south: 46.98, east: 8.02, north: 47 };
    const reading = { box, isNoDataNobody: false, onRemark: () => undefined };
    expect(await peopleIn(pixelsOf(path, reading), box)).toBeCloseTo(1 + 2 + 4, 6);
    expect(await peopleIn(pixelsOf(path, reading), { ...box, north: 46.99 })).toBeCloseTo(4, 6);
    const elsewhere = { west: 10, south: 46, east: 11, north: 47 };
    await expect(all(pixelsOf(path, { ...reading, box: elsewhere }))).rejects.toThrow(
      "grid.tif: has longitudes from 8 to 8.03 and latitudes from 46.98 to 47, and nothing of --bbox, which has " +
        "longitudes from 10 to 11 and latitudes from 46 to 47",
    );
    const swapped = { west: 46.98, south: 8, east: 47, north: 8.02 };
    await expect(all(pixelsOf(path, { ...reading, box: swapped }))).rejects.toThrow(/: swapped\?$/);
    const atItsEdge = { ...box, west: 8.03, east: 8.05 };
    await expect(all(pixelsOf(path, { ...reading, box: atItsEdge }))).rejects.toThrow(
      "and nothing of --bbox",
    );
  });

  test.each([
    [
      "a latitude beyond a pole",
      "lat,lon,people\n104.8,45.7,1\n",
      "line 2: latitude: must be from -90 to 90; latitude and longitude swapped?",
    ],
    [
      "a negative number of people",
      "lat,lon,people\n45,5,1\n45,5,-1\n",
      "line 3, people: must be a number of people, 0 or more",
    ],
    [
      "no column for people",
      "lat,lon,inhabitants\n45,5,1\n",
      "has no column for people: name it people, population",
    ],
    ["a row that is too short", "lat,lon,people\n45,5\n", "line 2: has 2 fields, the header has 3"],
    [
      "a row that is too long",
      "lat,lon,people\n47.1,8.2,10,\n47.1,8.2,10,,3\n",
      "line 3: has 5 fields, the header has 3",
    ],
    ["quotes that stay open", 'lat,lon,people\n"45,5,1\n', "line 2: must have quotes around a whole field"],
    [
      "a quote inside of a field",
      'lat,lon,people\n4"5,5,1\n',
      "line 2: must have quotes around a whole field",
    ],
    [
      "a hexadecimal number of people",
      "lat,lon,people\n45,5,0x1F\n",
      "line 2, people: must be a number of people",
    ],
    ["a hexadecimal latitude", "lat,lon,people\n0x2D,5,1\n", "line 2: latitude: must be from -90 to 90"],
    [
      "a number with an underscore",
      "lat,lon,people\n45,5,1_000\n",
      "line 2, people: must be a number of people",
    ],
    ["people without end", "lat,lon,people\n45,5,Infinity\n", "line 2, people: must be a number of people"],
    [
      "a decimal comma",
      "lat;lon;people\n45,5;5;1\n",
      "line 2: latitude: must have a point before its decimals",
    ],
    [
      "a comma in thousands",
      'lat,lon,people\n45,5,"1,000"\n',
      "line 2, people: must have no separator of thousands: 1200, not 1,200",
    ],
    [
      "commas in millions",
      'lat,lon,people\n45,5,"1,234,567.5"\n',
      "line 2, people: must have no separator of",
    ],
    ["points in millions", "lat,lon,people\n45,5,1.234.567\n", "line 2, people: must have no separator of"],
    ["a space in thousands", "lat,lon,people\n45,5,12 000\n", "line 2, people: must have no separator of"],
    ["a decimal comma of people", "lat;lon;people\n45;5;0,125\n", "line 2, people: must have a point before"],
    [
      "a decimal comma and no thousands",
      "lat;lon;people\n45;5;1200,125\n",
      "line 2, people: must have a point",
    ],
    [
      "a decimal comma and three decimals of a latitude",
      "lat;lon;people\n45,123;5;1\n",
      "line 2: latitude: must have a point before its decimals",
    ],
    [
      "a first line of Excel and a bad row",
      "sep=;\nlat;lon;people\n45;5;none\n",
      "line 3, people: must be a number",
    ],
    ["a column given twice", "lat,lon,people,people\n45,5,1,2\n", "has two columns named people"],
    [
      "two years",
      "lat,lon,population_2015,population_2020\n45,5,1,2\n",
      "has two columns for people, population_2015 and population_2020: give --column people=NAME",
    ],
    ["no rows", "", "has no row"],
  ])("ncs import population refuses a file with %s", async (_, content, reason) => {
    await expect(all(pointsOf(await folder.write("bad.csv", content)))).rejects.toThrow(`bad.csv: ${reason}`);
  });
});

test("ncs import population reads an H3 cell as a 64-bit number in decimals like its hexadecimals, and refuses a rounded one", async () => {
  const decimals = await folder.write("decimals.csv", "h3,people\n608541231454093311,10\n");
  const hexadecimals = await folder.write("hexadecimals.csv", "h3,people\n871f9069bffffff,10\n");
  const places = await all(h3CellsOf(decimals));
  expect(places).toHaveLength(1);
  expect(places).toEqual(await all(h3CellsOf(hexadecimals)));
  for (const rounded of ["608541231454093300", "6.0854123145409331E+17"]) {
    const file = await folder.write("rounded.csv", `h3,people\n${rounded},10\n`);
    await expect(all(h3CellsOf(file))).rejects.toThrow(
      "rounded.csv: line 2: h3: must be an H3 cell, such as 871f9069bffffff or 608541231454093311; decimals that were rounded",
    );
  }
});

test("ncs import population reads columns of other names where --column gives them", async () => {
  const path = await folder.write("named.csv", "LAT_WGS,lon,P20_POP,people\n47.1,8.2,10,3\n");
  const named = { latitude: "lat_wgs", people: "P20_POP" };
  expect(await all(pointsOf(path, named))).toEqual([{ latitude: 47.1, longitude: 8.2, people: 10, line: 2 }]);
  await expect(all(pointsOf(path, { people: "P21_POP" }))).rejects.toThrow(
    "named.csv: has no column for latitude: name it latitude, lat, y; or give --column latitude=NAME",
  );
  await expect(all(pointsOf(path, { ...named, people: "P21_POP" }))).rejects.toThrow(
    "named.csv: has no column named P21_POP, which --column gives for people",
  );
});

describe("a curve", () => {
  const at = (hour: number, day = 19) => new Date(Date.UTC(2026, 0, day, hour, 30));

  test("--curve returns a flat curve, the residential one, or that of a file of 24 or 168 hours", async () => {
    const flat = await curveOf("flat");
    expect([flat(at(3)), flat(at(12))]).toEqual([1, 1]);
    const residential = await curveOf("residential");
    expect(residential(at(3))).toBeGreaterThan(1.3 * residential(at(10)));
    const day = await curveOf(
      await folder.write("day.json", JSON.stringify(Array.from({ length: 24 }, (_, hour) => hour / 10))),
    );
    expect(day(at(5))).toBe(0.5);
    const hours = Array.from({ length: 168 }, (_, hour) => (hour < 24 ? 2 : 1));
    const week = await curveOf(await folder.write("week.json", JSON.stringify(hours)));
    expect([week(at(5, 19)), week(at(5, 20)), week(at(5, 25))]).toEqual([2, 1, 1]);
  });
});

describe("the command", () => {
  const attribution = ["--source", "A test", "--licence", "CC0-1.0"];

  test("ncs import population imports a typical week and says where the map shows it, and writes nothing with --dry-run", async () => {
    const path = await folder.write("town.csv", "lat,lon,people\n-33.4005,-70.5505,1500\n-33.4005,-60,7\n");
    const args = [
      "population",
      path,
      "--kind",
      "points",
      "--bbox",
      "-70.56,-33.41,-70.55,-33.40",
      "--outputs",
      outputs,
    ];

    const dry = await runNcs(["import", ...args, ...attribution, "--dry-run"]);
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^covers 1\.\d km²; the largest density is [\d,]+ people per km² in cell \w{7}\n1,500 people in the box, 7 outside; nothing was written into /,
      ),
    });
    const imported = await runNcs(["import", ...args, ...attribution]);
    expect(imported.stderr).toBe("");
    expect(imported.stdout).toMatch(
      /\n1,500 people in the box, 7 outside; [1-9][\d,]* of [\d,]+ DynamoDB items changed in /,
    );
    expect(imported.stdout).toContain("\non the map: https://api.example.com/dev/#area=-70.");
  });

  test("ncs import population with --column reads the columns that it names, and ncs import replay reads them again", async () => {
    const path = await folder.write(
      "named/grid.csv",
      "lon,breite,P20_POP,people\n-60.5505,-23.4005,1500,3\n-60.5505,-23.4005,20,3\n",
    );
    const args = ["population", path, "--kind", "points", "--bbox", "-60.56,-23.41,-60.55,-23.40"];
    const columns = ["--column", "latitude=Breite", "--column", "people=P20_POP"];
    const own = [...args, "--outputs", outputs, ...attribution];

    expect(await runNcs(["import", ...own])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("grid.csv: has no column for latitude"),
    });
    expect(await runNcs(["import", ...own, "--column", "people"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("and a name, such as people=P20_POP"),
    });
    expect(await runNcs(["import", ...own, ...columns])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\n1,520 people in the box, 0 outside; "),
    });
    const number = (await readJournal()).at(-1)?.number;
    const replay = ["replay", join(folder.path, "named"), "--first", String(number), "--outputs", outputs];
    expect(await runNcs(["import", ...replay])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        / population, points\n1 import made again, 0 of [\d,]+ DynamoDB items changed in /,
      ),
    });
  });

  test.each([
    ["no attribution", ["--bbox", "8,46,9,47"], "required option '--source <text>' not specified"],
    [
      "a box whose south is its north",
      ["--bbox", "8,47,9,46", ...attribution],
      "must have its south before its north",
    ],
    [
      "a box that is too large",
      ["--bbox", "0,0,60,60", ...attribution],
      "give a smaller one, or a lower --precision",
    ],
    [
      "a box with its latitudes first",
      ["--bbox", "46,8,47,9", ...attribution],
      "has nobody in --bbox west,south,east,north; with latitude and longitude swapped there would be: swapped?",
    ],
  ])("ncs import population exits with 1 for %s", async (_, options, reason) => {
    const path = await folder.write("one.csv", "lat,lon,people\n46.5,8.5,1\n");
    const args = ["import", "population", path, "--kind", "points", ...options, "--outputs", outputs];
    const { code, stderr } = await runNcs(args);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
  });
});
