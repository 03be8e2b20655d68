import { mkdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { LineParser } from "../../../../functions/population-density/import/rows/parse-lines.ts";
import { type Parser, rowsOf } from "../../../../functions/population-density/import/rows/read-rows.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { Problems } from "../../../../shared/import/problems.ts";
import { startParserThreads } from "../../../../tools/import/density/parser-threads.ts";
import { RowSource } from "../../../../tools/import/density/row-source.ts";
import { useOwnFolder } from "../../../support/own-folder.ts";
import { type Row, rowsIn, sourceOf } from "../../../support/rows.ts";
import { runs } from "../../../support/sample.ts";

const folder = useOwnFolder();
const fileOf = (ending: string, content: string | Uint8Array) =>
  folder.write(`${crypto.randomUUID()}.${ending}`, content);

async function readAll(...paths: string[]): Promise<Row[]> {
  const rows: Row[] = [];
  const problems = new Problems(paths.map((path) => basename(path)));
  for await (const batch of rowsOf(paths.map(sourceOf), { problems })) rows.push(...rowsIn(batch));
  return rows;
}

/** What is said of a file that is refused, without its name. */
async function refusalOf(ending: string, content: string | Uint8Array): Promise<string[]> {
  const path = await fileOf(ending, content);
  const error = await readAll(path).then(
    () => "nothing was refused",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ImportError);
  const lines = (error as ImportError).message.split("\n");
  for (const line of lines) expect(line).toContain(`${basename(path)}: `);
  return lines.map((line) => line.slice(`${basename(path)}: `.length));
}

const header = "geohash,startTime,people";
const ranged = `${header},minPeople,maxPeople`;
const noon = "2026-11-20T12:00:00Z";
const noonHour = Date.UTC(2026, 10, 20, 12) / 3_600_000;
const good = { tile: "u05kq", cell: 29 * 32 + 30, hour: noonHour, file: 0 };

describe("a row says the same", () => {
  const range = [12, 13] as const;
  const objectText = `{"people":12.5,"geohash":"u05kqxy","startTime":"${noon}"}`;

  test.each<[string, string, string, number, (readonly [number, number])?]>([
    ["in CSV", "csv", `${header}\nu05kqxy,${noon},12.5\n`, 2],
    ["with its columns in any order", "csv", `people,geohash,startTime\n12.5,u05kqxy,${noon}`, 2],
    ["with ends of lines as in Windows", "csv", `${header}\r\nu05kqxy,${noon},12.5\r\n`, 2],
    ["behind a byte order mark", "csv", `\ufeff${header}\nu05kqxy,${noon},12.5`, 2],
    ["in quotes", "csv", `"geohash",startTime,people\n"u05kqxy","${noon}","12.5"\n`, 2],
    ["behind blank lines", "csv", `${header}\n\n\nu05kqxy,${noon},12.5\n\n`, 4],
    ["as another number", "csv", `${header}\nu05kqxy,${noon},.125e+2\n`, 2],
    ["with a range that is empty", "csv", `${ranged}\nu05kqxy,${noon},12.5,,\n`, 2],
    ["in another zone", "csv", `${header}\nu05kqxy,2026-11-20T17:30:00.000+05:30,12.5\n`, 2],
    ["with pandas' time", "csv", `${header}\nu05kqxy,2026-11-20 12:00:00+00:00,12.5\n`, 2],
    [
      "with pandas' time of another zone",
      "csv",
      `${header}\nu05kqxy,2026-11-20 13:00:00.000+01:00,12.5\n`,
      2,
    ],
    ["with DuckDB's time", "csv", `${header}\n"u05kqxy","2026-11-20 12:00:00+00",12.5\n`, 2],
    ["with PostgreSQL's time", "csv", `${header}\nu05kqxy,2026-11-20 17:30:00+05:30,12.5\n`, 2],
    ["with pandas' time as an object", "ndjson", objectText.replace(noon, "2026-11-20 12:00:00+00:00"), 1],
    ["as an object", "ndjson", `${objectText}\n`, 1],
    ["as an object in a .jsonl", "jsonl", `\n${objectText}`, 2],
    ["with a range in CSV", "csv", `${ranged}\nu05kqxy,${noon},12.5,12,13\n`, 2, range],
    [
      "with a range in NDJSON",
      "ndjson",
      `${objectText.slice(0, -1)},"minPeople":12,"maxPeople":13}`,
      1,
      range,
    ],
  ])("an import reads the same row %s", async (_, ending, content, line, [min, max] = [12.5, 12.5]) => {
    expect(await readAll(await fileOf(ending, content))).toEqual([{ ...good, people: 12.5, min, max, line }]);
  });

  test("an import reads the same rows wherever a file is cut into pieces", async () => {
    // Rows of more bytes than are read at once, of lengths that put every byte of a row at a border of some piece.
    const lengths = Array.from({ length: 40_000 }, (_, index) => index % 37);
    const content = lengths.map((length) => `u05kqxy,${noon},0.${"5".repeat(length + 1)}\n`).join("");
    const rows = await readAll(await fileOf("csv", `${header}\n${content}`));
    expect(rows.map(({ line }) => line)).toEqual(lengths.map((_, index) => index + 2));
    expect(rows.map(({ people }) => people)).toEqual(
      lengths.map((length) => Number(`0.${"5".repeat(length + 1)}`)),
    );
  });

  test("an import reads any number that JavaScript writes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1 }),
        async (numbers) => {
          const content = numbers.map((people) => `u05kqxy,${noon},${people}\n`).join("");
          const rows = await readAll(await fileOf("csv", `${header}\n${content}`));
          expect(rows.map(({ people }) => people)).toEqual(numbers.map((people) => people + 0));
        },
      ),
      { numRuns: 30 },
    );
  });
});

/** Fields of rows that are read. */
const valid = {
  geohash: fc.stringMatching(/^u05k[0-9b-hjkmnp-z]{3}$/),
  startTime: fc
    .integer({ min: noonHour, max: noonHour + 71 })
    .chain((hour) => fc.constantFrom(timeOf(hour), pandasTimeOf(hour))),
  people: fc.double({ min: 0, max: 1e9, noNaN: true }).map(String),
  min: fc.constantFrom("0", "0.0", ".0"),
};

const anyNumber = fc.oneof(
  valid.people,
  fc.stringMatching(/^\d{0,9}\.?\d{0,9}$/),
  fc.constantFrom(
    "",
    "1 000",
    `${"0".repeat(20)}1`,
    `0.${"1".repeat(19)}`,
    ..."-1 +1 . 1.2.3 1e3 1e10".split(" "),
  ),
);

/** Fields that are valid, or nearly so. */
const any = {
  geohash: fc.oneof(
    { weight: 9, arbitrary: valid.geohash },
    fc.constantFrom("", "u", "u05kqx", "U05kqxy", "u05kqxa", "é05kqxy", " u05kqxy"),
  ),
  startTime: fc.oneof(
    { weight: 9, arbitrary: valid.startTime },
    fc.constantFrom(
      "",
      `${noon.slice(0, -1)}+01:00`,
      ...["2026-11-20T24", "2026-02-30T12", "2026-11-20t1;"].map((hour) => `${hour}:00:00Z`),
    ),
  ),
  people: anyNumber,
  min: anyNumber,
};

function timeOf(hour: number): string {
  return new Date(hour * 3_600_000).toISOString();
}

function pandasTimeOf(hour: number): string {
  return timeOf(hour).replace("T", " ").replace(".000Z", "+00:00");
}

const rowsWith = ({ geohash, startTime, people, min }: typeof any) =>
  fc.array(
    fc
      .tuple(geohash, startTime, people, fc.option(min), fc.constantFrom("\n", "\r\n", "\n\n"))
      .map(
        ([cell, time, count, from, end]) =>
          [cell, time, count, ...(from === null ? ["", ""] : [from, "1000000000"])].join() + end,
      ),
    { minLength: 1, maxLength: 12 },
  );

test.each([
  ["valid", valid],
  ["nearly valid", any],
])("an import reads the same from CSV with and without quotes, of rows that are %s", async (name, fields) => {
  await fc.assert(
    fc.asyncProperty(rowsWith(fields), async (rows) => {
      const [plain, quoted] = await Promise.all(
        [`u05kqxy,${noon},1,,`, `"u05kqxy",${noon},1,,`].map(async (first) => {
          const path = await fileOf("csv", `${ranged}\n${first}\n${rows.join("")}`);
          return await readAll(path).catch((error: Error) =>
            error.message.replaceAll(basename(path), "file"),
          );
        }),
      );
      expect(plain).toEqual(quoted);
      if (name === "valid") expect(plain).toHaveLength(1 + rows.length);
    }),
    { numRuns: runs(150, 40) },
  );
});

test("parser threads give the same rows and problems as the main thread", async () => {
  const count = runs(60_000, 12_000);
  const lines = Array.from(
    { length: count },
    (_, index) => `u05k${index % 10}${index % 7}y,${noon},${index}.5`,
  );
  const good = [await fileOf("csv", `${header}\n${lines.join("\n")}`), await fileOf("ndjson", "")];
  const bad = await fileOf(
    "csv",
    `${header}\n${lines.map((line, index) => (index % (count / 2.4) === 7 ? "x" : line)).join("\n")}`,
  );
  const parser = startParserThreads(2);
  try {
    for (const paths of [good, [bad], [good[0] ?? "", bad]]) {
      const read = async (parser?: Parser) => {
        const rows: Row[] = [];
        try {
          const problems = new Problems(paths);
          for await (const batch of rowsOf(paths.map(sourceOf), { problems, parser }))
            rows.push(...rowsIn(batch));
          return { count: rows.length, rows: JSON.stringify(rows) };
        } catch (error) {
          return { count: rows.length, rows: JSON.stringify(rows), error };
        }
      };
      const expected = await read();
      expect(expected.count).toBeGreaterThan(count / 1.2);
      expect(await read(parser)).toEqual(expected);
    }
  } finally {
    await parser.close();
  }
});

test("a parser thread that ends fails its pending parse", async () => {
  const parser = startParserThreads(1);
  const parsed = parser.parse({ bytes: Buffer.from("\n"), header: undefined, precision: undefined });
  const ended = expect(parsed).rejects.toThrow("has ended");
  await parser.close();
  await ended;
  const later = parser.parse({ bytes: Buffer.from("\n"), header: undefined, precision: undefined });
  await expect(later).rejects.toThrow("has ended");
});

test("an import throws what a parser refuses only after the rows before it", async () => {
  const path = await fileOf("csv", `${header}\n${`u05kqxy,${noon},12.5\n`.repeat(40_000)}`);
  const lineParser = new LineParser();
  let chunks = 0;
  const parser: Parser = {
    atOnce: 3,
    parse: async (lines) => {
      chunks++;
      if (chunks === 3) throw new Error("a thread is gone");
      return lineParser.parse(lines);
    },
  };
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  try {
    const rows = rowsOf([sourceOf(path)], { problems: new Problems([path]), parser });
    expect(await rows.next()).toMatchObject({ done: false });
    expect(await rows.next()).toMatchObject({ done: false });
    expect(chunks).toBe(4);
    await setTimeout(50);
    expect(unhandled).not.toHaveBeenCalled();
    await expect(rows.next()).rejects.toThrow("a thread is gone");
  } finally {
    process.off("unhandledRejection", unhandled);
  }
});

test("an import throws a read error only after the rows before it", async () => {
  const path = await fileOf("csv", `${header}\n${`u05kqxy,${noon},12.5\n`.repeat(40_000)}`);
  let reads = 0;
  const onBytes = () => {
    reads++;
    if (reads > 1) throw new Error("no more bytes");
  };
  const rows = rowsOf([new RowSource(path, { onBytes })], { problems: new Problems([path]) });
  expect(await rows.next()).toMatchObject({ done: false });
  await expect.poll(() => reads).toBe(2);
  await expect(rows.next()).rejects.toThrow("no more bytes");
});

test("an import reports every byte of every file once", async () => {
  const paths = [
    await fileOf("csv", `\ufeff${header}\n${`u05kqxy,${noon},12.5\n`.repeat(20_000)}`),
    await fileOf("ndjson", `{"geohash":"u05kqxy","startTime":"${noon}","people":1}`),
  ];
  let bytes = 0;
  const onBytes = (more: number) => {
    bytes += more;
  };
  const sources = paths.map((path) => new RowSource(path, { onBytes }));
  for await (const { from, to } of rowsOf(sources, { problems: new Problems(paths) })) {
    expect(to).toBeGreaterThan(from);
  }
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  expect(bytes).toBe(sizes.reduce((sum, size) => sum + size));
});

describe("a row is refused by its line and column, without its value", () => {
  const notPeople = "must be a number from 0 to 1000000000";
  const notGeohash = "must be a geohash of 2 to 12 characters in lower case";
  const noZone = "startTime: must be an RFC 3339 date-time with a zone";
  const notOnTheHour = "startTime: must be on the hour in UTC";

  test.each([
    ["a capital letter", `U05kqxy,${noon},1`, `geohash: ${notGeohash}`],
    ["a letter that geohashes do not have", `u05kqxa,${noon},1`, `geohash: ${notGeohash}`],
    ["a geohash of 13 characters", `u05kqxyu05kqx,${noon},1`, `geohash: ${notGeohash}`],
    ["no geohash", `,${noon},1`, "geohash: is missing"],
    ["another length", `u05kqx,${noon},1`, "geohash: must have 7 characters like the ones before"],
    ["no time", "u05kqxy,,1", "startTime: is missing"],
    ["no zone", "u05kqxy,2026-11-20T12:00:00,1", "startTime: has no time zone (Z or +01:00)"],
    ["no zone, as pandas", "u05kqxy,2026-11-20 12:00:00,1", "startTime: has no time zone (Z or +01:00)"],
    ["no seconds", "u05kqxy,2026-11-20T12:00Z,1", "startTime: has no seconds (12:00:00)"],
    [
      "neither seconds nor zone",
      "u05kqxy,2026-11-20 12:00,1",
      "startTime: has no seconds (12:00:00) and no time zone (Z or +01:00)",
    ],
    ["a date alone", "u05kqxy,2026-11-20,1", "startTime: has no time of day (T12:00:00Z)"],
    ["a day that is not there", "u05kqxy,2026-02-30T12:00:00Z,1", noZone],
    ["half past", "u05kqxy,2026-11-20T12:30:00Z,1", notOnTheHour],
    ["half an hour of UTC", "u05kqxy,2026-11-20T12:00:00+05:30,1", notOnTheHour],
    ["a fraction of a second", "u05kqxy,2026-11-20T12:00:00.0001Z,1", notOnTheHour],
    ["a time before 1970", "u05kqxy,1969-12-31T23:00:00Z,1", "startTime: must be from 1970 to 9999"],
    ["a time after 9999", "u05kqxy,9999-12-31T23:00:00-01:00,1", "startTime: must be from 1970 to 9999"],
    ["no people", `u05kqxy,${noon},`, "people: is missing"],
    ["people that are no number", `u05kqxy,${noon},1 000`, `people: ${notPeople}`],
    ["fewer people than none", `u05kqxy,${noon},-1`, `people: ${notPeople}`],
    ["more people than there are", `u05kqxy,${noon},1000000001`, `people: ${notPeople}`],
    ["people without end", `u05kqxy,${noon},1e999`, `people: ${notPeople}`],
    ["too few fields", "u05kqxy,1", "has 2 fields, not 3"],
    ["one field", "u05kqxy", "has 1 field, not 3"],
    ["too many fields", `u05kqxy,${noon},1,1`, "has 4 fields, not 3"],
    ["a quote within a field", `u05k"qxy,${noon},1`, "is not CSV with a record in each line"],
    ["a quote that is not closed", `"u05kqxy,${noon},1`, "is not CSV with a record in each line"],
    ["a comma in quotes", `"u05kqxy,${noon}",1`, "has 2 fields, not 3"],
  ])("an import refuses a CSV row with %s by its line and column", async (_, row, problem) => {
    const [before, after] = [`u05kqxy,${noon},1`, `u05kqxz,${noon},1`];
    const refused = await refusalOf("csv", [header, before, "", row, after].join("\n"));
    expect(refused).toEqual([
      `line 4${problem.startsWith("has") || problem.startsWith("is") ? ":" : ","} ${problem}`,
    ]);
  });

  test.each([
    ["a minimum above people", "1,2,3", "minPeople: is above people"],
    ["a maximum below people", "3,2,2", "maxPeople: is below people"],
    ["a minimum alone", "3,2,", "maxPeople: is missing"],
    ["a maximum alone", "3,,4", "minPeople: is missing"],
    ["a minimum that is none", "3,x,4", `minPeople: ${notPeople}`],
    ["a maximum beyond all", "3,2,1e10", `maxPeople: ${notPeople}`],
  ])("an import refuses a range with %s by its line and column", async (_, numbers, problem) => {
    expect(await refusalOf("csv", `${ranged}\nu05kqxy,${noon},${numbers}\n`)).toEqual([`line 2, ${problem}`]);
  });

  const unknown = (name: string) =>
    `: has an unknown member ("${name}"); expected geohash, startTime, people, minPeople, maxPeople`;
  const object = { geohash: "u05kqxy", startTime: noon, people: 1 };
  const changed = (changes: object) => JSON.stringify({ ...object, ...changes });

  test.each([
    ["no JSON", "{", ": is not a JSON object"],
    ["an array", "[]", ": is not a JSON object"],
    [
      "a member that is not known",
      changed({ minpeople: 1 }),
      `${unknown("minpeople")}; did you mean minPeople?`,
    ],
    ["a member named like what all objects have", '{"__proto__":{}}', unknown("__proto__")],
    ["a number as text", changed({ people: "1" }), `, people: ${notPeople}`],
    ["a range that is null", changed({ minPeople: null, maxPeople: null }), `, minPeople: ${notPeople}`],
    ["a geohash as a number", changed({ geohash: 1234567 }), `, geohash: ${notGeohash}`],
    ["a time as a number", changed({ startTime: 0 }), `, ${noZone}`],
    ["no people", changed({ people: undefined }), ", people: is missing"],
  ])("an import refuses an NDJSON line with %s by its line and member", async (_, line, problem) => {
    expect(await refusalOf("ndjson", `${changed({})}\n${line}\n`)).toEqual([`line 2${problem}`]);
  });

  test("an import refuses a geohash that is longer than those of an earlier file", async () => {
    const paths = [
      await fileOf("csv", `${header}\nu05kqxy,${noon},1\n`),
      await fileOf("ndjson", changed({ geohash: "u05kqxyz" })),
    ];
    await expect(readAll(...paths)).rejects.toThrow(
      `${basename(paths[1] ?? "")}: line 1, geohash: must have 7 characters`,
    );
  });

  test("an import reports all problems of all rows at once", async () => {
    const rows = ["u05kqxy,now,many", "u05kqxy,2026-11-20T12:00:00Z", `u05kqxy,${noon},-1`];
    expect(await refusalOf("csv", `${header}\n${rows.join("\n")}`)).toEqual([
      `line 2, ${noZone}`,
      `2 rows: people: ${notPeople}, first in line 2`,
      "line 3: has 2 fields, not 3",
    ]);
  });

  test("an import that refuses 10,000 rows for the same problem reports it in one line with their number, and another problem in a line of its own", async () => {
    const rows = `u05kqxy,${noon.slice(0, -1)},1\n`.repeat(10_000);
    expect(await refusalOf("csv", `${header}\n${rows}u05kqxy,${noon},-1\n`)).toEqual([
      "10,000 rows: startTime: has no time zone (Z or +01:00), first in line 2",
      `line 10002, people: ${notPeople}`,
    ]);
  });

  test("an import reports the first twenty different problems and that there may be more", async () => {
    const rows = Array.from({ length: 30 }, (_, index) => "1,".repeat(index + 4));
    const refused = await refusalOf("csv", `${header}\n${rows.join("\n")}`);
    expect(refused).toHaveLength(21);
    expect(refused.at(-2)).toBe("line 21: has 24 fields, not 3");
    expect(refused.at(-1)).toBe("there may be more problems: the check stops after 20 different ones");
  });
});

test("an import counts a million rows with problems, reports that there may be more, and stops", () => {
  const problems = new Problems(["rows.csv"]);
  problems.add(0, "is missing", 2, "people", 999_999);
  expect(() => problems.add(0, "is missing", 1_000_001, "people")).toThrow(
    "rows.csv: 1,000,000 rows: people: is missing, first in line 2\n" +
      "rows.csv: there may be more problems: the check stops after 1,000,000 rows",
  );
});

describe("a file is refused as a whole", () => {
  const unknown = "is unknown; expected geohash, startTime, people, minPeople, maxPeople";
  const noCsv = "is not CSV with a record in each line";

  test.each([
    ["an unknown column", "csv", `${header},country\n`, `line 1: column 4 ("country") ${unknown}`],
    ["rows without a header", "csv", `u05kqxy,${noon},1\n`, `line 1: column 1 ${unknown}`],
    ["names of other columns", "csv", "cell,hour,n\n", `line 1: column 1 ("cell") ${unknown}`],
    [
      "latitudes",
      "csv",
      "latitude,longitude,startTime,people\n",
      `line 1: column 1 ("latitude") ${unknown}; three lines of DuckDB in docs/densities.md make geohashes of latitude and longitude`,
    ],
    ["a name with digits", "csv", `${header},n_2026\n`, `line 1: column 4 ("n_2026") ${unknown}`],
    ["a column that is missing", "csv", "geohash,people\n", "line 1: has no startTime"],
    ["a column that is there twice", "csv", `${header},people\n`, "line 1: has people twice"],
    ["half of a range", "csv", `${header},maxPeople\n`, "line 1: has only one of minPeople and maxPeople"],
    ["a header that is no CSV", "csv", `geo"hash,startTime,people\nu05kqxy,${noon},1\n`, `line 1: ${noCsv}`],
    ["no rows", "csv", `${header}\n\n`, "has no rows"],
    ["nothing at all", "csv", "", "has no rows"],
    ["no objects", "ndjson", "\n \n", "has no rows"],
    [
      "another format",
      "xlsx",
      "",
      "must end in .csv, .ndjson or .jsonl, or in one of these and .gz; or --format says what it is",
    ],
  ])("an import refuses a file with %s", async (_, ending, content, problem) => {
    expect(await refusalOf(ending, content)).toEqual([problem]);
  });

  test("an import refuses bytes that are not UTF-8 by their position", async () => {
    const rows = `${header}\n${`u05kqxy,${noon},1\n`.repeat(20_000)}`;
    const bytes = Buffer.concat([Buffer.from(rows), Buffer.from([0x75, 0xff, 0x0a])]);
    expect(await refusalOf("csv", bytes)).toEqual(["line 20002: is not UTF-8"]);
  });

  test("an import refuses a line of more than 65536 bytes", async () => {
    const tooLong = "is longer than 65536 bytes";
    const blank = " ".repeat(65_536);
    expect(await refusalOf("ndjson", `\n${blank}\n`)).toEqual(["has no rows"]);
    expect(await refusalOf("ndjson", `\n${blank} \n`)).toEqual([`line 2: ${tooLong}`]);
    expect(await refusalOf("ndjson", `\n\n${"1".repeat(10_000_000)}`)).toEqual([`line 3: ${tooLong}`]);
    expect(await refusalOf("csv", `${header}\n${",".repeat(10_000_000)}`)).toEqual([`line 2: ${tooLong}`]);
  });

  test("an import refuses a missing file and a folder", async () => {
    await expect(readAll(join(folder.path, "absent.csv"))).rejects.toThrow(
      "absent.csv: cannot be read: ENOENT",
    );
    await mkdir(join(folder.path, "folder.csv"));
    await expect(readAll(join(folder.path, "folder.csv"))).rejects.toThrow(
      "folder.csv: cannot be read: EISDIR",
    );
  });

  test("an import refuses several files at once, each by its name", async () => {
    const paths = [await fileOf("csv", `${header}\n`), await fileOf("txt", ""), await fileOf("ndjson", "7")];
    const refused = readAll(...paths);
    for (const path of paths) await expect(refused).rejects.toThrow(`${basename(path)}: `);
  });
});
