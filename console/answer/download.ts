import { saveFile } from "../dom.ts";
import { ApiError } from "../http.ts";
import type { DensityRequest } from "../request/request-form.ts";
import { callApi } from "../session.ts";
import { retrievalPath } from "./retrieval.ts";

/** The formats of files, by the names on their buttons. */
export const formats = {
  GeoJSON: { accept: "application/geo+json", extension: "geojson" },
  CSV: { accept: "text/csv", extension: "csv" },
} as const;

/** A format of files. */
export type Format = keyof typeof formats;

/**
 * Sends a request again, for an answer in another format, and saves what the API answers.
 * @throws {ApiError} when the API refuses it, or does not have the format.
 */
export async function download(format: Format, request: DensityRequest): Promise<void> {
  const { accept, extension } = formats[format];
  const response = await callApi(retrievalPath, { method: "POST", body: JSON.stringify(request), accept });
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(accept)) {
    throw new ApiError(response.status, "FORMAT", `This stage does not answer as ${format}.`);
  }
  saveFile(`densities-${request.startTime.slice(0, 13)}.${extension}`, await response.blob());
}
