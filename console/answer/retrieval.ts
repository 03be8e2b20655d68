import { callApi } from "../base/session.ts";
import type { TypicalWeek } from "../request/capabilities.ts";
import type { DensityRequest } from "../request/query.ts";
import { parseBases } from "./basis.ts";
import { type Densities, type DensityAnswer, type DensityBody, parseDensities } from "./densities.ts";

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
