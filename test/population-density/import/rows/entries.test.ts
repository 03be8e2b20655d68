import fc from "fast-check";
import { expect, test } from "vitest";
import { Entries, entryBytes } from "../../../../functions/population-density/import/rows/entries.ts";
import {
  cellIn,
  firstKeyIn,
  firstKeyOf,
  hourIn,
  rowKeyOf,
  rowKeysPerPartition,
} from "../../../../functions/population-density/import/rows/row-key.ts";

const row = fc.record({
  key: fc.integer({ min: 0, max: rowKeysPerPartition - 1 }),
  line: fc.oneof(
    fc.integer({ min: 0, max: 2 ** 44 - 1 }),
    fc.integer({ min: 2 ** 32 - 2, max: 2 ** 32 + 2 }),
  ),
  people: fc.double({ min: 0, max: 1e9, noNaN: true }),
  min: fc.double({ min: 0, max: 1e9, noNaN: true }),
  max: fc.double({ min: 0, max: 1e9, noNaN: true }),
});

test("rows keep any key, people and line of 44 bits, also when they are copied or read from bytes", () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 9 }), fc.nat(1_000), (rows, linesBefore) => {
      const entries = new Entries(new ArrayBuffer(entryBytes * rows.length));
      const copied = new Entries(new ArrayBuffer(entryBytes * rows.length));
      for (const [index, { key, line, people, min, max }] of rows.entries()) {
        entries.set(index, key, Math.max(0, line - linesBefore), people, min, max);
        copied.copy(index, entries, index, index + 1, Math.min(line, linesBefore));
      }
      const read = new Entries(copied.bytes().slice().buffer);
      const found = rows.map((_, index) => ({
        key: read.key(index),
        line: read.line(index),
        people: read.people(index),
        min: read.min(index),
        max: read.max(index),
      }));
      expect(found).toEqual(rows);
    }),
  );
});

test("the key of a row is unique for every tile, hour and cell of a partition", () => {
  const keys = new Set<number>();
  for (const tile of "0123456789bcdefghjkmnpqrstuvwxyz") {
    for (let hour = 0; hour < 24; hour++) {
      for (const cell of [0, 1, 31, 32, 1_023]) {
        const key = rowKeyOf(firstKeyOf(`u05k${tile}`), hour, cell);
        expect([firstKeyIn(key), hourIn(key), cellIn(key)]).toEqual([firstKeyOf(tile), hour, cell]);
        expect(key).toBeLessThan(rowKeysPerPartition);
        keys.add(key);
      }
    }
  }
  expect(keys.size).toBe(32 * 24 * 5);
});
