import { createReadStream } from "node:fs";
import { expect, test } from "vitest";
import { citiesNamed } from "../../console/data/regions.ts";
import { parseGivenAreas } from "../../console/request/given-areas.ts";
import { rowsOf } from "../../functions/population-density/import/rows/read-rows.ts";
import { preferredType } from "../../shared/http/accept.ts";
import { parseJsonObject } from "../../shared/http/body.ts";
import { Problems } from "../../shared/import/problems.ts";
import { isSink } from "../../shared/sinks/sink-url.ts";
import { readArea } from "../../tools/import/density/area.ts";
import { h3CellsOf, pointsOf } from "../../tools/import/density/population/csv-rows.ts";
import { pixelValuesOf } from "../../tools/import/density/population/pixel-values.ts";
import { RecordFile } from "../../tools/import/record-file.ts";
import { stepOf } from "../../tools/verify/features/steps/run-scenarios.ts";
import type { World } from "../../tools/verify/features/world.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { isInCi, sampleOf } from "../support/sample.ts";

const folder = useOwnFolder();
const message = stepOf('the response property "$.message" contains a user friendly text');

/** Reads a file with a text to its end. */
const file =
  (name: string, read: (path: string) => AsyncIterable<unknown>, before = "") =>
  async (text: string) => {
    for await (const _ of read(await folder.write(name, before + text)));
  };
const rows = (path: string) => {
  const format = path.endsWith(".csv") ? "csv" : "ndjson";
  return rowsOf([{ format, text: () => createReadStream(path) }], { problems: new Problems(["rows"]) });
};

/** Each takes a text of strangers. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  "the map's areas": (text) => parseGivenAreas(text),
  "the map's cities": (text) => citiesNamed(text, [], () => true),
  "an import's points": file("points.csv", pointsOf),
  "an import's people": file("h3.csv", h3CellsOf, "people,h3\n"),
  "an import's CSV": file("rows.csv", rows, "geohash,startTime,people\n"),
  "an import's NDJSON": file("rows.ndjson", rows),
  "an import's records": file("records.json", (path) => new RecordFile(path).records(), "["),
  "an import's GeoJSON": async (text) => readArea(await folder.write("area.geojson", text)),
  "an import's GeoTIFF": (metadata) => pixelValuesOf({ format: 3, bits: 32, bands: 1, metadata }),
  "a provider's message": (text) => message.run({ sentAnswer: { body: { message: text } } } as World),
  "a feature's step": stepOf,
  "a request's body": (text) => parseJsonObject(text, false),
  "a request's header": (text) => preferredType(text, ["application/json"]),
  "a request's sink": (text) => isSink(`https://example.com/${text}`, []),
};

const runs = [..."a0 \t\n.,;-\"'\\/<[{", '\\"', "<Item/", "1,"].flatMap((unit) =>
  [
    ["", ""],
    ["1", "x"],
    ['{"', ""],
  ].map(
    ([before, after]) =>
      (length: number) =>
        before + unit.repeat(length / unit.length) + after,
  ),
);

/** In microseconds: less processor time is mostly the compiler's, or that of a machine with much else to do. */
const floor = 500_000;

test.each(Object.entries(parsers))(
  "%s, of a run of 128,000 characters, takes at most three times the processor time of 64,000",
  async (_, parse) => {
    const timeFor = async (text: string) => {
      const begun = process.threadCpuUsage();
      const result = Promise.resolve(text).then(parse);
      // Refused by a sentence, and not where the stack ends.
      expect(await result.catch((error) => error)).not.toBeInstanceOf(RangeError);
      const { user, system } = process.threadCpuUsage(begun);
      return user + system;
    };
    for (const run of isInCi ? runs : sampleOf(runs, 32)) {
      const short = await timeFor(run(64_000));
      expect(await timeFor(run(128_000)), run(6)).toBeLessThan(3 * Math.max(short, floor));
    }
  },
);
