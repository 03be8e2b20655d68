import { extname } from "node:path";
import { type Command, Option } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import type { DensityRow } from "../../shared/geo-parquet.ts";
import { cornersOf, polygonOfBox } from "../import/density/box.ts";
import { writeOut } from "../write-out.ts";
import { requestIn } from "./call.ts";
import { callOperation } from "./call-operation.ts";
import { type CallerOptions, tokenFor, withCaller } from "./login.ts";
import { boxOf, instantText, wholeNumber } from "./options.ts";
import type { Print } from "./print.ts";

interface DensityOptions extends CallerOptions {
  readonly out: string;
  readonly bbox?: Box;
  readonly start?: string;
  readonly end?: string;
  readonly precision?: number;
  readonly geometry?: string;
}

/** `ncs density`: the densities of an area as a file. */
export function addDensity(command: Command, _: Print, note: Print): void {
  withCaller(command)
    .requiredOption("--out <file>", `where to write: ${Object.keys(files).join(", ")} by the file's name`)
    .option("--bbox <w,s,e,n>", "the area, as a box in degrees", boxOf)
    .option("--start <time>", "startTime: RFC 3339 with a zone", instantText)
    .option("--end <time>", "endTime: RFC 3339 with a zone", instantText)
    .option("--precision <length>", "length of the cells' geohashes", wholeNumber(1, 12))
    .addOption(
      new Option("--geometry <kind>", "for .csv: adds columns with the location of each cell").choices([
        "POINT",
        "WKT",
      ]),
    )
    .action(async (text: string | undefined, options: DensityOptions, command: Command) => {
      const file = fileOf(options.out);
      if (options.geometry !== undefined && file !== files[".csv"]) {
        command.error(
          "error: --geometry is for .csv files only: other formats always contain the cells' outlines",
        );
      }
      const token = await tokenFor(options);
      const response = await callOperation({
        url: options.url,
        operationId: "retrievePopulationDensity",
        request: {
          ...(text === undefined ? {} : await requestIn(text)),
          ...membersOf(options),
          ...file.parameters,
        },
        token,
        headers: { accept: file.accept },
      });
      const body = await response.text();
      if (!response.ok) throw new Error(`the service answered ${response.status}: ${body}`);
      const bytes = await file.bytesOf(body);
      await writeOut(options.out, bytes);
      note(`wrote ${options.out}: ${bytes.length} bytes, ${response.headers.get("x-area-status")}`);
    });
}

/** A kind of file: the format that the service is asked for, and what is written of it. */
interface FileKind {
  readonly accept: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly bytesOf: (body: string) => Promise<Uint8Array>;
}

const files: Readonly<Record<string, FileKind>> = {
  ".csv": { accept: "text/csv", parameters: {}, bytesOf: async (body) => Buffer.from(body) },
  ".geojson": {
    accept: "application/geo+json",
    parameters: { featuresPer: "HOUR" },
    bytesOf: async (body) => Buffer.from(body),
  },
  ".parquet": {
    accept: "application/x-ndjson",
    parameters: {},
    bytesOf: async (body) => {
      const [{ geoParquetOf }, { boxOf }] = await Promise.all([
        import("../../shared/geo-parquet.ts"),
        import("../../functions/population-density/cover/box.ts"),
      ]);
      return new Uint8Array(geoParquetOf(rowsIn(body), (geohash) => polygonOfBox(boxOf(geohash))));
    },
  },
};

/** @throws {Error} for a file of another kind. */
function fileOf(path: string): FileKind {
  const found = files[extname(path).toLowerCase()];
  if (found === undefined) {
    throw new Error(`--out must be a file that ends in ${Object.keys(files).join(", ")}: ${path}`);
  }
  return found;
}

/** The members and the parameter of the request that options give. */
function membersOf({
  bbox,
  start,
  end,
  precision,
  geometry,
}: DensityOptions): Readonly<Record<string, unknown>> {
  return {
    ...(bbox === undefined ? {} : { area: { areaType: "POLYGON", boundary: cornersOf(bbox) } }),
    ...(start === undefined ? {} : { startTime: start }),
    ...(end === undefined ? {} : { endTime: end }),
    ...(precision === undefined ? {} : { precision }),
    ...(geometry === undefined ? {} : { geometry }),
  };
}

/** The rows of NDJSON, which the service has written. */
function rowsIn(ndjson: string): DensityRow[] {
  return ndjson.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}
