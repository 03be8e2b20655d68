import ngeohash from "ngeohash";
import type { Answer } from "../../../functions/population-density/answer/json.ts";
import { alphabet } from "../../support/answers.ts";

/** One cell in one hour, as every format tells it; without numbers unless it is an estimation. */
interface Row {
  readonly geohash: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly basis: string | undefined;
  readonly dataType: string;
  readonly pplDensity?: number;
  readonly minPplDensity?: number;
  readonly maxPplDensity?: number;
  readonly coveredShare: number;
}

/** The rows of an answer, hour by hour. */
async function rowsOf({ precision, tiles, hours, openHour, basisOf }: Answer): Promise<Row[][]> {
  const ofHours: Row[][] = [];
  for (const [hourIndex, hour] of hours.entries()) {
    const rows: Row[] = [];
    const [startTime, endTime] = [timeOf(hour), timeOf(hour + 1)];
    for (const [tileIndex, { geohash, cells }] of tiles.entries()) {
      const opened = await openHour(tileIndex, hourIndex);
      const basis = basisOf(tileIndex, hourIndex);
      for (const cell of cells) {
        const estimate = opened?.kind(cell) === "DENSITY_ESTIMATION" ? opened : undefined;
        rows.push({
          geohash: geohash + (precision === 1 ? "" : alphabet[cell >> 5]) + alphabet[cell & 31],
          startTime,
          endTime,
          basis,
          dataType: opened?.kind(cell) ?? "NO_DATA",
          ...(estimate && {
            pplDensity: estimate.value(cell),
            minPplDensity: estimate.minimum(cell),
            maxPplDensity: estimate.maximum(cell),
          }),
          coveredShare: Number((opened?.share(cell) ?? 0).toPrecision(4)),
        });
      }
    }
    ofHours.push(rows);
  }
  return ofHours;
}

const timeOf = (hour: number) => new Date(hour * 3_600_000).toISOString().replace(".000", "");

/** The corners of a cell, longitude first, counterclockwise from the south-west. */
function ringOf(geohash: string): [number, number][] {
  const [south, west, north, east] = ngeohash.decode_bbox(geohash);
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

const featureOf = (geohash: string, members: object, properties: object) => ({
  type: "Feature",
  ...members,
  geometry: { type: "Polygon", coordinates: [ringOf(geohash)] },
  properties: { geohash, ...properties },
});

/** The text of an answer in a format: what its writer must equal byte for byte. */
export type PlainFormat = (answer: Answer) => Promise<string>;

export const plainJson: PlainFormat = async (answer) => {
  const { operationId, status, statusInfo, hours } = answer;
  const timedPopulationDensityData = (await rowsOf(answer)).map((rows, index) => ({
    startTime: timeOf(hours[index] ?? 0),
    endTime: timeOf((hours[index] ?? 0) + 1),
    cellPopulationDensityData: rows.map(
      ({ startTime: _, endTime: __, basis: ___, coveredShare: ____, ...cell }) => cell,
    ),
  }));
  return JSON.stringify({ operationId, status, timedPopulationDensityData, statusInfo });
};

export const plainGeoJson: PlainFormat = async (answer) => {
  const ofHours = await rowsOf(answer);
  const intervals = answer.hours.map((hour) => ({ startTime: timeOf(hour), endTime: timeOf(hour + 1) }));
  const features = (ofHours[0] ?? []).map(({ geohash }, index) => {
    const list = (name: keyof Row) => ofHours.map((rows) => rows[index]?.[name] ?? null);
    return featureOf(
      geohash,
      { id: geohash },
      {
        startTime: intervals[0]?.startTime,
        endTime: intervals.at(-1)?.endTime,
        basis: list("basis"),
        dataType: list("dataType"),
        pplDensity: list("pplDensity"),
        minPplDensity: list("minPplDensity"),
        maxPplDensity: list("maxPplDensity"),
        coveredShare: list("coveredShare"),
      },
    );
  });
  return JSON.stringify({ type: "FeatureCollection", status: answer.status, intervals, features });
};

/** A row with every member, also where it has no value. */
function withNulls({ geohash, startTime, endTime, basis, dataType, ...numbers }: Row): object {
  const noNumbers = { pplDensity: null, minPplDensity: null, maxPplDensity: null };
  return { geohash, startTime, endTime, basis: basis ?? null, dataType, ...noNumbers, ...numbers };
}

export const plainHourlyGeoJson: PlainFormat = async (answer) => {
  const features = (await rowsOf(answer)).flat().map((row) => featureOf(row.geohash, {}, withNulls(row)));
  return JSON.stringify({ type: "FeatureCollection", status: answer.status, features });
};

export const plainNdjson: PlainFormat = async (answer) =>
  (await rowsOf(answer))
    .flat()
    .map((row) => `${JSON.stringify(withNulls(row))}\n`)
    .join("");

const columns = [
  ...(["geohash", "startTime", "endTime", "dataType"] as const),
  ...(["pplDensity", "minPplDensity", "maxPplDensity", "coveredShare", "basis"] as const),
];

/** CSV with columns before the others, of which each cell has the values. */
function plainCsvWith(before: readonly string[], valuesOf: (geohash: string) => unknown[]): PlainFormat {
  return async (answer) => {
    const rows = (await rowsOf(answer)).flat();
    const lines = rows.map((row) => [...valuesOf(row.geohash), ...columns.map((column) => row[column])]);
    return [[...before, ...columns], ...lines].map((line) => `${line.join()}\r\n`).join("");
  };
}

export const plainCsv = plainCsvWith([], () => []);

export const plainCsvWithPoints = plainCsvWith(["latitude", "longitude"], (geohash) => {
  const [south, west, north, east] = ngeohash.decode_bbox(geohash);
  return [(south + north) / 2, (west + east) / 2];
});

export const plainCsvWithWkt = plainCsvWith(["wkt"], (geohash) => {
  const corners = ringOf(geohash).map(([longitude, latitude]) => `${longitude} ${latitude}`);
  return [`"POLYGON ((${corners.join()}))"`];
});
