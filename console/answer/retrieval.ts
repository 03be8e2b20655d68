import { callApi } from "../base/session.ts";
import { parseBases } from "../data/basis.ts";
import type { TypicalWeek } from "../data/capabilities.ts";
import { type Densities, type DensityAnswer, type DensityBody, parseDensities } from "../data/densities.ts";
import type { DensityRequest } from "../data/query.ts";

/** The path of the operation that returns densities. */
export const retrievalPath = "populationdensitydata/retrieve";

/**
 * Requests densities, of one area after the other.
 * @param onNext is called before each request, with its index
 * @throws {ApiError} with the API's error.
 */
export async function retrieveDensities(
  requests: readonly DensityRequest[],
  week: TypicalWeek,
  signal: AbortSignal,
  onNext: (index: number) => void,
): Promise<Densities> {
  const answers: DensityAnswer[] = [];
  for (const [index, request] of requests.entries()) {
    onNext(index);
    const body = JSON.stringify(request);
    const { headers, json } = await callApi(retrievalPath, {
      method: "POST",
      body,
      accept: "application/geo+json",
      signal,
    });
    answers.push({ body: json as DensityBody, bases: parseBases(headers.get("x-density-basis")) });
  }
  return parseDensities(answers, week);
}
