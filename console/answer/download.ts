import { saveFile } from "../dom.ts";
import { ApiError } from "../http.ts";
import type { DensityRequest } from "../request/query.ts";
import { callApi } from "../session.ts";
import { retrievalPath } from "./retrieval.ts";

/** File formats, by the labels of their buttons. */
export const formats = {
  GeoJSON: { accept: "application/geo+json", extension: "geojson" },
  CSV: { accept: "text/csv", extension: "csv" },
} as const;

/** A file format. */
export type Format = keyof typeof formats;

/**
 * Repeats requests in another format, and saves each answer as a file.
 * @throws {ApiError} if the API refuses the request, or does not support the format.
 */
export async function download(format: Format, requests: readonly DensityRequest[]): Promise<void> {
  for (const [index, request] of requests.entries()) {
    const suffix = requests.length > 1 ? `-area-${index + 1}` : "";
    await downloadOne(format, request, suffix);
  }
}

async function downloadOne(format: Format, request: DensityRequest, suffix: string): Promise<void> {
  const { accept, extension } = formats[format];
  const response = await callApi(retrievalPath, { method: "POST", body: JSON.stringify(request), accept });
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(accept)) {
    throw new ApiError(response.status, "FORMAT", `This stage does not answer as ${format}.`);
  }
  saveFile(`densities-${request.startTime.slice(0, 13)}${suffix}.${extension}`, await response.blob());
}
