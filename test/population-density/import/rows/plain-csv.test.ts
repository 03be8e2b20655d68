import { expect, test } from "vitest";
import { headerIn } from "../../../../functions/population-density/import/rows/csv-lines.ts";
import {
  addPlainRows,
  maxPlainRows,
} from "../../../../functions/population-density/import/rows/plain-csv.ts";
import { RowWriter } from "../../../../functions/population-density/import/rows/row-batch.ts";
import { RowCheck } from "../../../../functions/population-density/import/rows/row-check.ts";

/** How many lines are read, and how many rows they have. */
function read(header: string, text: string) {
  const columns = headerIn(header);
  if (typeof columns === "string") throw new Error(columns);
  const [bytes, rows] = [Buffer.from(text), new RowWriter()];
  rows.begin(maxPlainRows(bytes));
  const lines = addPlainRows(bytes, columns, new RowCheck(), rows);
  return lines && { lines, rows: rows.packed().count };
}

const noon = "2026-11-20T12:00:00Z";

// What is not read here is read by a parser of all CSV, with the same result in ten times as long.
test.each([
  ["without ranges", "geohash,startTime,people", `u05kqxy,${noon},12.5\nu05kqxz,${noon},3\n`],
  [
    "with ranges, also empty ones",
    "geohash,startTime,people,minPeople,maxPeople",
    `u05kqxy,${noon},2,1,3\nu05kqxz,${noon},3,,`,
  ],
  [
    "in another order of columns",
    "people,startTime,geohash",
    `12.5,${noon},u05kqxy\r\n.5,${noon},u05kqxz\r\n`,
  ],
  [
    "with times of a zone",
    "geohash,startTime,people",
    "u05kqxy,2026-11-20T12:00:00+02:00,1\nu05kqxy,2026-11-20T13:00:00.000Z,1e1\n",
  ],
])("the plain parser reads CSV %s", (_, header, text) => {
  expect(read(header, text)).toEqual({ lines: 2, rows: 2 });
});
