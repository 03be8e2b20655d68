import * as z from "zod/mini";
import { described } from "../../shared/schemas.ts";
import type { Basis } from "./answer/basis.ts";
import { dataType, densityStatus, exampleDensities, exampleIntervals } from "./density-schemas.ts";

const basis = z.enum(["OBSERVED", "TYPICAL"] satisfies Basis[]);
const overHours = "One for each hour, from `startTime` on.";
const density = z.nullable(z.int().check(z.minimum(0)));
const hourly = (what: string) =>
  z.array(density).check(z.meta({ description: `${what} \`null\` without an estimate. ${overHours}` }));

const share = z.number().check(z.minimum(0), z.maximum(1));
const coveredShare = "The share of the cell's area in which people were counted.";

const geohash = z.string().check(z.regex(/^[0-9b-hjkmnp-z]{1,12}$/));
const time = (description: string) => z.iso.datetime().check(z.meta({ description }));

const position = z.array(z.number()).check(z.length(2));

const rectangle = z.object({
  type: z.literal("Polygon").check(z.meta({ description: "Of GeoJSON." })),
  coordinates: z
    .array(z.array(position))
    .check(z.meta({ description: "One ring, counterclockwise from the south-west; longitude first." })),
});

const feature = z
  .object({
    type: z.literal("Feature").check(z.meta({ description: "Of GeoJSON." })),
    id: described(geohash, "The cell's geohash."),
    geometry: described(rectangle, "The rectangle of the cell."),
    properties: described(
      z.object({
        geohash: described(geohash, "The cell."),
        startTime: time("Start of the first hour, UTC."),
        endTime: time("End of the last hour, UTC."),
        basis: z.array(z.nullable(basis)).check(
          z.meta({
            description:
              "Whether the hour was observed or is that of a typical weekday; `null` where nothing is stored. " +
              overHours,
          }),
        ),
        dataType: z.array(dataType).check(z.meta({ description: `What is known of the cell. ${overHours}` })),
        pplDensity: hourly("People per km² of the whole cell."),
        minPplDensity: hourly("Lower ends of the ranges."),
        maxPplDensity: hourly("Upper ends of the ranges."),
        coveredShare: z
          .array(share)
          .check(z.meta({ description: `${coveredShare} 0 without data. ${overHours}` })),
      }),
      "The densities in the cell, hour by hour.",
    ),
  })
  .check(z.meta({ id: "CellFeature", description: "A cell and its densities." }));

/** West, south, east and north of the example's cells. */
const exampleBoxes = {
  u05kq8: [4.85595703125, 45.7470703125, 4.866943359375, 45.7525634765625],
  u05kq9: [4.85595703125, 45.7525634765625, 4.866943359375, 45.758056640625],
} as const;

function exampleRectangle(geohash: keyof typeof exampleBoxes) {
  const [west, south, east, north] = exampleBoxes[geohash];
  const ring = [west, east, east, west, west].map((x, at) => [x, at > 1 && at < 4 ? north : south]);
  return { type: "Polygon", coordinates: [ring] };
}

const typicalExample = { basis: "TYPICAL", dataType: "DENSITY_ESTIMATION" } as const;

/** Each cell of the example in each hour, hour by hour. */
const exampleRows = exampleIntervals.flatMap((interval, hour) =>
  (exampleDensities[hour] ?? []).map((cell) => ({ interval, cell })),
);

const featureCollection = z
  .object({
    type: z.literal("FeatureCollection").check(z.meta({ description: "Of GeoJSON." })),
    status: densityStatus,
    intervals: described(
      z.array(
        z.object({
          startTime: time("Start of the hour, UTC."),
          endTime: time("End of the hour, UTC."),
        }),
      ),
      "The hours of all arrays, one after the other.",
    ),
    features: described(z.array(feature), "The cells in the order of their geohashes."),
  })
  .check(
    z.meta({
      id: "PopulationDensityFeatures",
      description: "The densities as GeoJSON (RFC 7946), a feature for each cell.",
    }),
  );

const hourlyFeature = z
  .object({
    type: z.literal("Feature").check(z.meta({ description: "Of GeoJSON." })),
    geometry: described(rectangle, "The rectangle of the cell."),
    properties: described(
      z.object({
        geohash: described(geohash, "The cell."),
        startTime: time("Start of the hour, UTC."),
        endTime: time("End of the hour, UTC."),
        basis: described(
          z.nullable(basis),
          "Whether the hour was observed or is that of a typical weekday; `null` where nothing is stored.",
        ),
        dataType: described(dataType, "What is known of the cell."),
        pplDensity: described(density, "People per km² of the whole cell. `null` without an estimate."),
        minPplDensity: described(density, "Lower end of the range. `null` without an estimate."),
        maxPplDensity: described(density, "Upper end of the range. `null` without an estimate."),
        coveredShare: described(share, `${coveredShare} 0 without data.`),
      }),
      "The density in the cell in the hour.",
    ),
  })
  .check(z.meta({ id: "CellHourFeature", description: "A cell in an hour, and its density." }));

const hourlyFeatureCollection = z
  .object({
    type: z.literal("FeatureCollection").check(z.meta({ description: "Of GeoJSON." })),
    status: densityStatus,
    features: described(z.array(hourlyFeature), "Hour by hour, the cells in the order of their geohashes."),
  })
  .check(
    z.meta({
      id: "PopulationDensityHourlyFeatures",
      description:
        "The densities as GeoJSON (RFC 7946), a feature for each cell in each hour: with `featuresPer=HOUR`.",
    }),
  );

const overExampleHours = <Value>(valueIn: (hour: number) => Value) =>
  exampleIntervals.map((_, hour) => valueIn(hour));

const example = {
  type: "FeatureCollection",
  status: "SUPPORTED_AREA",
  intervals: exampleIntervals,
  features: exampleDensities[0].map(({ geohash }, cell) => ({
    type: "Feature",
    id: geohash,
    geometry: exampleRectangle(geohash),
    properties: {
      geohash,
      startTime: exampleIntervals[0].startTime,
      endTime: exampleIntervals[1].endTime,
      basis: overExampleHours(() => typicalExample.basis),
      dataType: overExampleHours(() => typicalExample.dataType),
      pplDensity: overExampleHours((hour) => exampleDensities[hour]?.[cell]?.pplDensity),
      minPplDensity: overExampleHours((hour) => exampleDensities[hour]?.[cell]?.minPplDensity),
      maxPplDensity: overExampleHours((hour) => exampleDensities[hour]?.[cell]?.maxPplDensity),
      coveredShare: overExampleHours(() => 1),
    },
  })),
};

const hourlyExample = {
  type: "FeatureCollection",
  status: "SUPPORTED_AREA",
  features: exampleRows.map(({ interval, cell: { geohash, ...densities } }) => ({
    type: "Feature",
    geometry: exampleRectangle(geohash),
    properties: { geohash, ...interval, ...typicalExample, ...densities, coveredShare: 1 },
  })),
};

/** The formats of summaries besides JSON, by media type: `summary/summary-formats.ts` writes them. */
export const summaryFormats = {
  "text/csv": z.string().check(
    z.meta({
      id: "PopulationDensitySummaryTable",
      description:
        "The summary as CSV (RFC 4180): a header, and a row for each hour, with two columns for each class of ground " +
        "risk. Numbers without an estimate are empty.",
      examples: [
        [
          "startTime,endTime,people,minPeople,maxPeople," +
            "densestGeohash,densestPplDensity,densestMinPplDensity,densestMaxPplDensity," +
            "BELOW_5_cells,BELOW_5_areaKm2,BELOW_50_cells,BELOW_50_areaKm2,BELOW_500_cells,BELOW_500_areaKm2," +
            "BELOW_5000_cells,BELOW_5000_areaKm2,BELOW_50000_cells,BELOW_50000_areaKm2," +
            "FROM_50000_cells,FROM_50000_areaKm2,LOW_DENSITY_cells,LOW_DENSITY_areaKm2,NO_DATA_cells,NO_DATA_areaKm2," +
            "isQuietest,isBusiest",
          "2026-11-23T11:00:00Z,2026-11-23T12:00:00Z,21799,21255,22342,u05kq9,31296,30560,32032," +
            "0,0,0,0,0,0,0,0,2,1.04382,0,0,0,0,0,0,true,false",
          "2026-11-23T12:00:00Z,2026-11-23T13:00:00Z,21949,21406,22492,u05kq9,31440,30704,32176," +
            "0,0,0,0,0,0,0,0,2,1.04382,0,0,0,0,0,0,false,true",
          "",
        ].join("\r\n"),
      ],
    }),
  ),
} as const;

/** The formats of densities besides JSON, by media type: `answer/formats.ts` writes them. */
export const densityFormats = {
  "application/geo+json": z
    .union([featureCollection, hourlyFeatureCollection])
    .check(z.meta({ examples: [example, hourlyExample] })),
  "text/csv": z.string().check(
    z.meta({
      id: "PopulationDensityTable",
      description:
        "The densities as CSV (RFC 4180): a header, and a row for each cell in each hour. Numbers " +
        "without an estimate are empty, and so is `basis` (`OBSERVED` or `TYPICAL`) where nothing is stored. " +
        "`coveredShare` is the share of the cell's area in which people were counted, 0 without data. " +
        "With `geometry`, the first columns say where the cell is.",
      examples: [
        [
          "geohash,startTime,endTime,dataType,pplDensity,minPplDensity,maxPplDensity,coveredShare,basis",
          ...exampleRows.map(({ interval: { startTime, endTime }, cell }) => {
            const { geohash, pplDensity, minPplDensity, maxPplDensity } = cell;
            const densities = [pplDensity, minPplDensity, maxPplDensity];
            return [
              geohash,
              startTime,
              endTime,
              typicalExample.dataType,
              ...densities,
              1,
              typicalExample.basis,
            ].join(",");
          }),
          "",
        ].join("\r\n"),
      ],
    }),
  ),
  "application/x-ndjson": z.string().check(
    z.meta({
      id: "PopulationDensityLines",
      description:
        "The densities as JSON texts, a line for each cell in each hour. Each is an object with " +
        "`geohash`, `startTime`, `endTime`, `basis` (`OBSERVED` or `TYPICAL`; `null` where nothing is stored), " +
        "`dataType`, `pplDensity`, `minPplDensity` and `maxPplDensity` (`null` without an estimate), and " +
        "`coveredShare`: the share of the cell's area in which people were counted, 0 without data.",
      examples: [
        [
          ...exampleRows.map(({ interval, cell: { geohash, ...densities } }) =>
            JSON.stringify({ geohash, ...interval, ...typicalExample, ...densities, coveredShare: 1 }),
          ),
          "",
        ].join("\n"),
      ],
    }),
  ),
} as const;
