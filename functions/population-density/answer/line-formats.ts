import { maximumCodeOf, minimumCodeOf, noDataCode, suppressedCode, TileHour } from "../tiles/tile-hour.ts";
import {
  type Ascii,
  asciiOf,
  type LastCharacters,
  lastCharactersOf,
  maxShareBytes,
  putAscii,
  putDensity,
  putShare,
  timeOf,
} from "./ascii.ts";
import type { Basis } from "./basis.ts";
import {
  cellPositionsOf,
  centrePosition,
  jsonRingPosition,
  type PositionForm,
  type PutPosition,
  wktRingPosition,
} from "./cell-positions.ts";
import { Chunks } from "./chunks.ts";
import type { Answer, BodyWriter } from "./json.ts";

/**
 * What stands around the values of a row: `geohash` before the cell's, and the others behind what they follow; a density
 * brings its comma along.
 */
interface RowForm {
  readonly geohash: string;
  /** From the geohash to the share. */
  readonly noData: string;
  readonly lowDensity: string;
  /** From the geohash to the first number. */
  readonly density: string;
  readonly minimum: string;
  readonly maximum: string;
  /** From the last density to the share. */
  readonly share: string;
  readonly end: string;
}

/** The form of a tile's rows in an hour, from its first to its last moment. */
type FormOfHour = (startTime: string, endTime: string, basis: Basis | undefined) => RowForm;

const csv: FormOfHour = (startTime, endTime, basis) => ({
  geohash: "",
  noData: `,${startTime},${endTime},NO_DATA,,,,`,
  lowDensity: `,${startTime},${endTime},LOW_DENSITY,,,,`,
  density: `,${startTime},${endTime},DENSITY_ESTIMATION,`,
  minimum: "",
  maximum: "",
  share: "",
  end: `,${basis ?? ""}\r\n`,
});

const ndjson: FormOfHour = (startTime, endTime, basis) => {
  const ofBasis = basis === undefined ? "null" : `"${basis}"`;
  const times = `","startTime":"${startTime}","endTime":"${endTime}","basis":${ofBasis}`;
  const noNumbers = '"pplDensity":null,"minPplDensity":null,"maxPplDensity":null,"coveredShare":';
  return {
    geohash: '{"geohash":"',
    noData: `${times},"dataType":"NO_DATA",${noNumbers}`,
    lowDensity: `${times},"dataType":"LOW_DENSITY",${noNumbers}`,
    density: `${times},"dataType":"DENSITY_ESTIMATION","pplDensity":`,
    minimum: '"minPplDensity":',
    maximum: '"maxPplDensity":',
    share: '"coveredShare":',
    end: "}\n",
  };
};

/** A feature for each row, with a comma after it. */
const feature: FormOfHour = (...hour) => ({
  ...ndjson(...hour),
  geohash: ']]]},"properties":{"geohash":"',
  end: "}},",
});

/** How an answer is written row by row. */
interface RowFormat {
  readonly header: (answer: Answer) => string;
  readonly formOf: FormOfHour;
  /** Where the cell is, at the beginning of each row, and the text before it. */
  readonly position?: { readonly before: string; readonly form: PositionForm };
  /** The end of the body, which replaces the comma after the last row. */
  readonly footer?: string;
}

const csvColumns =
  "geohash,startTime,endTime,dataType,pplDensity,minPplDensity,maxPplDensity,coveredShare,basis\r\n";

/** An answer as CSV (RFC 4180) with a header, a row for each cell in each hour; chunks as of `bodyOf`. */
export const csvOf = rowWriter({ header: () => csvColumns, formOf: csv });

/** CSV whose first columns are the latitude and the longitude of the cell's centre. */
export const csvWithPointsOf = rowWriter({
  header: () => `latitude,longitude,${csvColumns}`,
  formOf: (...hour) => ({ ...csv(...hour), geohash: "," }),
  position: { before: "", form: centrePosition },
});

/** CSV whose first column is the rectangle of the cell as WKT. */
export const csvWithWktOf = rowWriter({
  header: () => `wkt,${csvColumns}`,
  formOf: (...hour) => ({ ...csv(...hour), geohash: '))",' }),
  position: { before: '"POLYGON ((', form: wktRingPosition },
});

/** An answer as JSON texts, a line for each cell in each hour; chunks as of `bodyOf`. */
export const ndjsonOf = rowWriter({ header: () => "", formOf: ndjson });

/**
 * An answer as a GeoJSON FeatureCollection (RFC 7946): a feature for each cell in each hour, for programs that filter by
 * time and read no arrays. Features have no `id`, as each cell has several; chunks as of `bodyOf`.
 */
export const hourlyGeoJsonOf = rowWriter({
  header: ({ status }) => `{"type":"FeatureCollection","status":"${status}","features":[`,
  formOf: feature,
  position: {
    before: '{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[',
    form: jsonRingPosition,
  },
  footer: "]}",
});

function rowWriter(format: RowFormat): BodyWriter {
  return (answer, bufferPool = []) => rowsOf(answer, format, bufferPool);
}

async function* rowsOf(
  answer: Answer,
  { header, formOf, position, footer }: RowFormat,
  bufferPool: Buffer[],
): AsyncGenerator<Buffer, void, undefined> {
  const { precision, tiles, hours, openHour, basisOf } = answer;
  const chunks = new Chunks(bufferPool, carriedBytes);
  const lastCharacters = lastCharactersOf(precision);
  const before = asciiOf(position?.before ?? "");
  const positions = cellPositionsOf(precision);
  const putPositions = tiles.map(({ geohash }) => position?.form(geohash, precision, positions));
  let anyRow = false;
  chunks.addText(header(answer));
  for (const [hourIndex, hour] of hours.entries()) {
    const textsByBasis = new Map<Basis | undefined, RowTexts>();
    for (const [tileIndex, { geohash, cells }] of tiles.entries()) {
      const opened = openHour(tileIndex, hourIndex);
      const tileHour = (opened instanceof Promise ? await opened : opened) ?? hourWithoutData;
      const basis = basisOf(tileIndex, hourIndex);
      const texts = textsByBasis.get(basis) ?? rowTextsOf(formOf(timeOf(hour), timeOf(hour + 1), basis));
      textsByBasis.set(basis, texts);
      const start = asciiOf(texts.beforeGeohash + geohash);
      chunks.addItems(cells.length, maxRowBytes, (view, at, from, to) =>
        putRows(
          view,
          at,
          before,
          putPositions[tileIndex],
          start,
          lastCharacters,
          texts,
          tileHour,
          cells,
          from,
          to,
        ),
      );
      anyRow ||= cells.length > 0;
      yield* chunks.takeFull();
    }
  }
  if (footer !== undefined) {
    if (anyRow) chunks.dropComma();
    chunks.addText(footer);
  }
  yield* chunks.takeAll();
}

/**
 * No chunk but the last ends where a row does: a response that is cut has a last row without its last value, wherever
 * it was cut. The last value with the comma before it and the end of the line takes no more bytes.
 */
const carriedBytes = 16;

/**
 * A feature with ten coordinates of 25 characters, 12 of geohash, two times, a basis, three numbers of 13 digits and a
 * share.
 */
const maxRowBytes = 640 + 16 + maxShareBytes;

const hourWithoutData = new TileHour();

interface RowTexts {
  readonly beforeGeohash: string;
  /** To the end of the row, as `wholeLowDensity` is. */
  readonly noData: Ascii;
  readonly lowDensity: Ascii;
  readonly density: Ascii;
  readonly minimum: Ascii;
  readonly maximum: Ascii;
  readonly share: Ascii;
  readonly end: Ascii;
  /** Text of cells that are covered as a whole. */
  readonly wholeLowDensity: Ascii;
  readonly wholeEnd: Ascii;
}

function rowTextsOf({ geohash, ...form }: RowForm): RowTexts {
  return {
    beforeGeohash: geohash,
    noData: asciiOf(`${form.noData}0${form.end}`),
    lowDensity: asciiOf(form.lowDensity),
    density: asciiOf(form.density),
    minimum: asciiOf(form.minimum),
    maximum: asciiOf(form.maximum),
    share: asciiOf(form.share),
    end: asciiOf(form.end),
    wholeLowDensity: asciiOf(`${form.lowDensity}1${form.end}`),
    wholeEnd: asciiOf(`${form.share}1${form.end}`),
  };
}

/** Writes the rows of `cells` from index `from` to index `to`, and returns where they end. */
function putRows(
  view: DataView,
  begin: number,
  before: Ascii,
  putPosition: PutPosition | undefined,
  start: Ascii,
  { characters, length: lastLength }: LastCharacters,
  { noData, lowDensity, density, minimum, maximum, share, end, wholeLowDensity, wholeEnd }: RowTexts,
  { codes, below, above, shares }: TileHour,
  cells: Uint16Array,
  from: number,
  to: number,
): number {
  let at = begin;
  for (let index = from; index < to; index++) {
    const cell = cells[index] ?? 0;
    if (putPosition !== undefined) at = putPosition(view, putAscii(view, at, before), cell);
    at = putAscii(view, at, start);
    view.setUint16(at, characters[cell] ?? 0, true);
    at += lastLength;
    const code = codes[cell] ?? noDataCode;
    if (code === noDataCode) {
      at = putAscii(view, at, noData);
    } else if (code === suppressedCode) {
      if (shares === undefined) at = putAscii(view, at, wholeLowDensity);
      else at = putAscii(view, putShare(view, putAscii(view, at, lowDensity), shares[cell]), end);
    } else {
      at = putAscii(view, at, density);
      at = putDensity(view, at, code);
      at = putAscii(view, at, minimum);
      at = putDensity(view, at, minimumCodeOf(code, below[cell] ?? 0));
      at = putAscii(view, at, maximum);
      at = putDensity(view, at, maximumCodeOf(code, above[cell] ?? 0));
      if (shares === undefined) at = putAscii(view, at, wholeEnd);
      else at = putAscii(view, putShare(view, putAscii(view, at, share), shares[cell]), end);
    }
  }
  return at;
}
