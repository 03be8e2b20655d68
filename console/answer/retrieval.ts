import type { DensityRequest } from "../request/request-form.ts";
import { callApi } from "../session.ts";
import { type Densities, type DensityBody, parseDensities } from "./densities.ts";

/** The path of the API that answers with densities. */
export const retrievalPath = "populationdensitydata/retrieve";

/**
 * Asks for densities.
 * @throws {ApiError} with what the API says.
 */
export async function retrieveDensities(request: DensityRequest, signal: AbortSignal): Promise<Densities> {
  const response = await callApi(retrievalPath, { method: "POST", body: JSON.stringify(request), signal });
  return parseDensities((await response.json()) as DensityBody);
}
