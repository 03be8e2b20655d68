import type { DensityRequest } from "../request/query.ts";
import { callApi } from "../session.ts";
import { type Densities, type DensityBody, parseDensities } from "./densities.ts";

/** The path of the operation that returns densities. */
export const retrievalPath = "populationdensitydata/retrieve";

/**
 * Requests densities, of one area after the other.
 * @param onNext is called before each request, with its index
 * @throws {ApiError} with the API's error.
 */
export async function retrieveDensities(
  requests: readonly DensityRequest[],
  signal: AbortSignal,
  onNext: (index: number) => void,
): Promise<Densities> {
  const answers: DensityBody[] = [];
  for (const [index, request] of requests.entries()) {
    onNext(index);
    const response = await callApi(retrievalPath, { method: "POST", body: JSON.stringify(request), signal });
    answers.push((await response.json()) as DensityBody);
  }
  return parseDensities(...answers);
}
