import {
  BatchExecuteStatementCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, test, vi } from "vitest";
import type { Provenance } from "../../../functions/population-density/tiles/data-set.ts";
import { readDataSet, recordPublishing } from "../../../functions/population-density/tiles/data-set-store.ts";
import {
  aroundTheCorner,
  type Box,
  bucket,
  cellsOf,
  further,
  header,
  importDistributed,
  importOnOneMachine,
  inTables,
  itemsOf,
  lastId,
  neighbour,
  northOf,
  precision,
  row,
  rowsOf,
  split,
  tables,
  times,
  useImports,
  type Wanted,
} from "../../support/distributed-import.ts";
import { isWhole, runs, sampleOf } from "../../support/sample.ts";

useImports(isWhole ? [3, 4, 5, 6] : [3, 5, 6]);

describe("a distributed import writes what an import on one machine writes, byte for byte", () => {
  test.each(
    sampleOf<[string, Wanted, number]>(
      [
        [
          "with a share of all people, and a source",
          { box: aroundTheCorner, marketShare: 0.31, provenance: { source: "A", licence: "CC0-1.0" } },
          3,
        ],
        ["of typical weekdays, over what the rows cover", { typical: true }, 2],
        ["in one file", { box: aroundTheCorner }, 1],
        ["of typical weekdays, counted again", { box: further, typical: true, isRecounted: true }, 5],
      ],
      1,
    ),
  )(
    "the distributed import writes the items of an import on one machine: %s",
    async (_, wanted: Wanted, count) => {
      // Hours of two Mondays; in the whole, also one of a Tuesday.
      const all = await rowsOf(aroundTheCorner, { hours: times.slice(0, runs(4, 3)) });
      const rows = wanted.typical === true ? all.filter((row) => !row.includes("2026-11-09T")) : all;
      const one = await importOnOneMachine({ "counted.csv": header + rows.join("\n") }, wanted);
      const distributed = await importDistributed(split(rows, count, count), wanted, count);
      const prefixes = (await bucket.list(`executions/${lastId}/stored/`)).length;
      expect(distributed).toEqual({ status: "SUCCEEDED", output: one });
      expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
      expect(one.rows).toBeGreaterThan(400);
      expect(prefixes).toBeGreaterThanOrEqual(4);
      if (wanted.provenance !== undefined) await expectDataSet(aroundTheCorner, rows, wanted.provenance);
    },
  );

  /** What the distributed import says that it covered, of which day, and from which source. */
  async function expectDataSet(box: Box, rows: readonly string[], provenance: Provenance): Promise<void> {
    const found = await inTables(tables.distributed, () => readDataSet(AbortSignal.timeout(60_000)));
    const dates = rows.map((row) => row.slice(precision + 1, precision + 11)).sort();
    expect(found).toMatchObject({ newestDay: dates.at(-1), provenance: [provenance] });
    const { west = 0, south = 0, east = 0, north = 0 } = found?.coverage ?? {};
    const [height, width] = [180 / 2 ** 15, 360 / 2 ** 15];
    for (const [outer, inner, cell] of [
      [-west, -box[0], width],
      [-south, -box[1], height],
      [east, box[2], width],
      [north, box[3], height],
    ] as const) {
      expect(outer).toBeGreaterThanOrEqual(inner);
      expect(outer).toBeLessThan(inner + cell);
    }
  }

  test("the distributed import writes the same items next to published ones: a larger area, a neighbour, a repeat", async () => {
    const steps: [Box, number][] = isWhole
      ? [
          [aroundTheCorner, 1],
          [further, 1],
          [neighbour, 2],
          [further, 1],
        ]
      : [
          [northOf(aroundTheCorner), 1],
          [northOf(further), 1],
        ];
    for (const [index, [box, seed]] of steps.entries()) {
      // A neighbour says nothing of cells that are published: they stay as they are.
      const known = new Set(box === neighbour ? await cellsOf(further) : []);
      const hours = times.slice(0, runs(4, 2));
      const rows = (await rowsOf(box, { hours, seed })).filter((row) => !known.has(row.slice(0, precision)));
      const wanted = { box };
      const one = await importOnOneMachine({ "counted.csv": header + rows.join("\n") }, wanted);
      const distributed = await importDistributed(split(rows, 2, index), wanted, index);
      expect(distributed).toEqual({ status: "SUCCEEDED", output: one });
      expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
    }
  });
});

/** What items an import writes, one after the other: partitions, tiles, and its end in the journal. */
async function writesOf(importing: () => Promise<unknown>): Promise<string[]> {
  const written: string[] = [];
  const { send } = DynamoDBClient.prototype;
  const spied = vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBClient,
    ...sent
  ) {
    const [command] = sent;
    if (command instanceof BatchExecuteStatementCommand) written.push("tiles");
    if (command instanceof UpdateItemCommand && command.input.UpdateExpression?.includes("endedAt")) {
      written.push("end");
    }
    if (command instanceof PutItemCommand) {
      const { tile, kind = tile, day } = command.input.Item ?? {};
      written.push((day?.S === "quality" ? day : kind)?.S?.split("/")[0] ?? "");
    }
    return await Reflect.apply(send, this, sent);
  });
  try {
    await importing();
  } finally {
    spied.mockRestore();
  }
  return written;
}

test("both imports write K, the exclusion, the journal, the day, its figures and their end in one order", async () => {
  const files = { "a.csv": `${header}${row("u04zzz")}` };
  const imports = [
    await writesOf(() => importOnOneMachine(files, { isExcluded: true })),
    await writesOf(() => importDistributed(files, { isExcluded: true })),
  ];
  const first = ["data-set", "exclusions", "import-files", "imports", "import-days", "cells", "tiles"];
  const last = ["tiles", "figures", "quality", "data-set", "end"];
  for (const written of imports) {
    expect([...new Set(written)].slice(0, first.length)).toEqual(first);
    expect([...new Set(written.toReversed())].toReversed().slice(-last.length)).toEqual(last);
  }
});

describe("K is one fact", () => {
  const files = { "a.csv": `${header}u04zzz,${times[0]},20,,` };

  test("the distributed import is refused when its stack was deployed with another K than the service", async () => {
    const distributed = await importDistributed(files, { threshold: 20 });
    expect(distributed).toEqual({
      status: "FAILED",
      error: "ImportError",
      cause:
        "DENSITY_K is 20 in the outputs of the service, but 10 in the stack that imports densities: " +
        "deploy both, with --all",
    });
    expect(await itemsOf(tables.distributed)).toEqual([]);
  });

  test("the distributed import is refused when its K is smaller than the stored one", async () => {
    await inTables(tables.distributed, () =>
      recordPublishing({ threshold: 12, precisions: [3, 4] }, undefined),
    );
    const before = await itemsOf(tables.distributed);
    expect(await importDistributed(files, {})).toMatchObject({
      status: "FAILED",
      error: "ImportError",
      cause: expect.stringMatching(/^DENSITY_K is 10, but densities in the table were imported with 12: /),
    });
    expect(await itemsOf(tables.distributed)).toEqual(before);
  });
});

test("the distributed import writes the same items for cells of three characters", async () => {
  const files = {
    "a.csv": `${header}${["u04", "u0h", "u1h"].map((cell) => row(cell)).join("\n")}`,
  };
  const one = await importOnOneMachine(files, {});
  expect(await importDistributed(files, {})).toEqual({ status: "SUCCEEDED", output: one });
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
});
