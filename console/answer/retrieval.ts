import type { DensityRequest } from "../request/request-form.ts";
import { callApi } from "../session.ts";
import { type Densities, type DensityBody, parseDensities } from "./densities.ts";

/** The path of the operation that returns densities. */
export const retrievalPath = "populationdensitydata/retrieve";

/**
 * Requests densities.
 * @throws {ApiError} with the API's error.
 */
export async function retrieveDensities(request: DensityRequest, signal: AbortSignal): Promise<Densities> {
  const response = await callApi(retrievalPath, { method: "POST", body: JSON.stringify(request), signal });
  return parseDensities((await response.json()) as DensityBody);
}
