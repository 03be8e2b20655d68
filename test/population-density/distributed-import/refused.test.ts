import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { handler } from "../../../functions/population-density/distributed-import/import-densities.ts";
import {
  type Box,
  bucket,
  cellsOf,
  folder,
  header,
  importDistributed,
  importOnOneMachine,
  itemsOf,
  tables,
  times,
  useImports,
  type Wanted,
} from "../../support/distributed-import.ts";
import { sampleOf } from "../../support/sample.ts";

useImports([3, 6]);

describe("what is refused is refused with the same words, and nothing is written", () => {
  const [cell] = ["u04zzz"];
  const row = (people: number | string, time = times[0], geohash = cell) => `${geohash},${time},${people},,`;
  const box: Box = [5.6, 44.98, 5.62, 44.995];

  /** Two files of rows, the first of which is good. */
  const files = (...rows: readonly string[]) => ({
    "a.csv": `${header}${row(5)}`,
    "b.csv": `${header}${rows.join("\n")}`,
  });

  const refused: readonly (readonly [string, Readonly<Record<string, string>>, Wanted])[] = [
    ["a bad row", files(row(7, times[1]), row(-1)), {}],
    ["a duplicate row", files(row(6, times[1]), row(5)), {}],
    ["a row outside the area", files(row(5, times[0], "u0h000")), { box }],
    ["another precision", files(row(5, times[0], "u04zz"), row(5, times[1], "u04zz")), {}],
    [
      "two dates of a weekday, one of them in two files",
      { ...files(row(5, times[2])), "c.csv": header + row(5, times[2], "u0h000") },
      { typical: true },
    ],
    ["no rows", { "a.csv": header }, {}],
    ["a wrong name", { "a.txt": header }, {}],
    ["cells that are too coarse", { "a.csv": `${header}u0,${times[0]},5,,` }, {}],
  ];
  test.each(sampleOf(refused, 3))(
    "both imports refuse with the same words and write nothing: %s",
    async (_, files, wanted) => {
      const refusal = await importOnOneMachine(files, wanted).catch((error: Error) =>
        error.message.replaceAll(`${folder.path}/`, ""),
      );
      const distributed = await importDistributed(files, wanted);
      expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause: refusal });
      expect(await itemsOf(tables.distributed)).toEqual([]);
    },
  );

  test("both imports refuse another time zone than the remembered one with the same words", async () => {
    const zone = (timeZone: string, replacesTimeZone?: boolean): Wanted => ({
      calendar: { timeZone, replacesTimeZone },
    });
    const first = { "a.csv": header + row(20) };
    await importOnOneMachine(first, zone("Europe/Madrid"));
    await importDistributed(first, zone("Europe/Madrid"));
    const refusal = await importOnOneMachine(first, zone("America/Lima")).catch(
      ({ message }: Error) => message,
    );
    expect(refusal).toMatch(/^--time-zone is America\/Lima, but typical weekdays follow Europe\/Madrid, /);
    expect(await importDistributed(first, zone("America/Lima"))).toMatchObject({
      status: "FAILED",
      cause: refusal,
    });
    expect(await importDistributed(first, zone("Europe/Madrid"))).toMatchObject({ status: "SUCCEEDED" });
    expect(await importDistributed(first, zone("America/Lima", true))).toMatchObject({ status: "SUCCEEDED" });
  });

  test("the distributed import tells files of one name apart by their folders", async () => {
    const files = {
      "north/a.csv": `${header}${row(5)}`,
      "south/a.csv": `${header}${row(6, times[1])}\n${row(5)}\n${row(-1)}`,
    };
    expect(await importDistributed(files, {})).toMatchObject({
      status: "FAILED",
      cause: expect.stringMatching(/^south\/a\.csv: line 4, people: /),
    });
  });

  test.each([
    ["a file without a name", ".gz", gzipSync(header), "must end in .csv, .ndjson, .jsonl"],
    ["a .gz file that is not compressed", "a.csv.gz", header, "is not gzip"],
    ["a compressed file with a damaged member", "a.csv.gz", withDamagedMember(), "is not gzip to its end"],
  ])("the distributed import refuses %s", async (_, name, content, problem) => {
    const distributed = await importDistributed({ [name]: content }, {});
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause: `${name}: ${problem}` });
  });

  function withDamagedMember(): Buffer {
    const damaged = gzipSync(`${row(19, times[1])}\n`).fill(0, 0, 1);
    return Buffer.concat([gzipSync(`${header}${row(18)}\n`), damaged]);
  }

  test.each([
    ["longer", `${header}${row(18)}0`],
    ["shorter", header],
  ])("the distributed import refuses a file that is %s by the time it is read", async (_, later) => {
    const replacing = async (payload: unknown) => {
      const { step, key = "" } = payload as { step: string; key?: string };
      if (step === "read") await bucket.put(key, later);
      return await handler(payload);
    };
    const distributed = await importDistributed({ "a.csv": `${header}${row(18)}` }, {}, 1, replacing);
    const cause = "a.csv: has changed while it was read";
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause });
    expect(await itemsOf(tables.distributed)).toEqual([]);
  });

  test("the distributed import refuses an empty folder", async () => {
    const distributed = await importDistributed({}, {});
    expect(distributed).toMatchObject({
      status: "FAILED",
      error: "ImportError",
      cause: expect.stringMatching(/: has no files$/),
    });
  });

  test("the distributed import refuses another number for a cell that stays published", async () => {
    const [first = "", second = "", third = ""] = await cellsOf(box);
    const published = { "a.csv": header + [first, second].map((one) => row(20, times[0], one)).join("\n") };
    const conflicting = {
      "b.csv": header + [row(30, times[0], second), row(20, times[0], third)].join("\n"),
    };
    await importOnOneMachine(published, {});
    await importDistributed(published, {});
    const before = await itemsOf(tables.distributed);
    const refusal = await importOnOneMachine(conflicting, {}).catch((error: Error) => error.message);
    const distributed = await importDistributed(conflicting, {});
    expect(distributed).toEqual({ status: "FAILED", error: "ImportError", cause: refusal });
    expect(refusal).toContain("was published with another number");
    expect(await itemsOf(tables.distributed)).toEqual(before);
  });
});
