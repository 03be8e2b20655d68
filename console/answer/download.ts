import { saveFile } from "../base/dom.ts";
import { callApi } from "../base/session.ts";
import { type DensityRequest, retrievalPath } from "../data/query.ts";
import { combineCsv, combineGeoJson } from "./combine.ts";

/** The name of a file with an ending, such as `.csv`: it says what the file has. */
export type NameFile = (ending: string) => string;

/** File formats, by the labels of their buttons: by hour there are plain numbers, for one area. */
const formats = {
  GeoJSON: { accept: "application/geo+json", query: "", ending: "-by-cell.geojson", combine: combineGeoJson },
  "GeoJSON by hour": {
    accept: "application/geo+json",
    query: "?featuresPer=HOUR",
    ending: "-by-hour.geojson",
    combine: undefined,
  },
  CSV: { accept: "text/csv", query: "", ending: ".csv", combine: combineCsv },
} as const;

/** A file format. */
export type Format = keyof typeof formats;

/** The formats that the answers to some requests have as one file. */
export function formatsFor(requests: readonly DensityRequest[]): Format[] {
  const names = Object.keys(formats) as Format[];
  return names.filter((name) => requests.length === 1 || formats[name].combine !== undefined);
}

/**
 * Repeats requests in another format, and saves their answers as one file.
 * @throws {ApiError} as {@link retrieveAs} does.
 */
export async function download(
  format: Format,
  requests: readonly DensityRequest[],
  nameFile: NameFile,
  signal: AbortSignal,
): Promise<void> {
  const { accept, query, ending, combine } = formats[format];
  const answers = await retrieveAs(accept, requests, signal, query);
  const [first = "", ...others] = answers;
  const content = others.length === 0 || combine === undefined ? first : combine(answers);
  saveFile(nameFile(ending), new Blob([content], { type: accept }));
}

/**
 * Repeats requests in a media type, one after the other.
 * @throws {ApiError} if the API refuses a request, or an answer is not whole.
 */
export async function retrieveAs(
  accept: string,
  requests: readonly DensityRequest[],
  signal: AbortSignal,
  query = "",
): Promise<string[]> {
  const answers: string[] = [];
  for (const request of requests) {
    const body = JSON.stringify(request);
    const { text } = await callApi(retrievalPath + query, { method: "POST", body, accept, signal });
    answers.push(text);
  }
  return answers;
}
