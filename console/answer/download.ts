import { saveFile } from "../dom.ts";
import { ApiError } from "../http.ts";
import type { DensityRequest } from "../request/query.ts";
import { callApi } from "../session.ts";
import { combineCsv, combineGeoJson } from "./combine.ts";
import { retrievalPath } from "./retrieval.ts";

/** File formats, by the labels of their buttons: by hour there are plain numbers, for one area. */
const formats = {
  GeoJSON: { accept: "application/geo+json", query: "", extension: "geojson", combine: combineGeoJson },
  "GeoJSON by hour": {
    accept: "application/geo+json",
    query: "?featuresPer=HOUR",
    extension: "geojson",
    combine: undefined,
  },
  CSV: { accept: "text/csv", query: "", extension: "csv", combine: combineCsv },
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
 * @throws {ApiError} if the API refuses the request, or does not support the format.
 */
export async function download(format: Format, requests: readonly DensityRequest[]): Promise<void> {
  const { accept, query, extension, combine } = formats[format];
  const answers = await retrieveAs(accept, requests, query);
  const [first, ...others] = answers;
  if (first === undefined) return;
  const texts = () => Promise.all(answers.map((answer) => answer.text()));
  const content =
    others.length === 0 || combine === undefined
      ? first
      : new Blob([combine(await texts())], { type: accept });
  saveDensities(requests, extension, content);
}

/** Saves a file under a name with the start of what it has. */
export function saveDensities(requests: readonly DensityRequest[], extension: string, content: Blob): void {
  saveFile(`densities-${requests[0]?.startTime.slice(0, 13)}.${extension}`, content);
}

/**
 * Repeats requests in a media type, one after the other.
 * @throws {ApiError} if the API refuses the request, or does not support the media type.
 */
export async function retrieveAs(
  accept: string,
  requests: readonly DensityRequest[],
  query = "",
): Promise<Blob[]> {
  const answers: Blob[] = [];
  for (const request of requests) answers.push(await answerAs(accept, query, request));
  return answers;
}

async function answerAs(accept: string, query: string, request: DensityRequest): Promise<Blob> {
  const response = await callApi(retrievalPath + query, {
    method: "POST",
    body: JSON.stringify(request),
    accept,
  });
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(accept)) {
    throw new ApiError(response.status, "FORMAT", `This stage does not answer as ${accept}.`);
  }
  return await response.blob();
}
