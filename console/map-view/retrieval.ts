/** Asks the API for what the form asks for: after a click, or by itself after a pause. */
import { Asking } from "../base/asking.ts";
import { callApi } from "../base/session.ts";
import { afterHours } from "../base/time.ts";
import { parseBases } from "../data/basis.ts";
import type { Capabilities, TypicalWeek } from "../data/capabilities.ts";
import { type Densities, type DensityAnswer, type DensityBody, parseDensities } from "../data/densities.ts";
import { type DensityRequest, type Query, requestsOf, retrievalPath } from "../data/query.ts";
import { firstShown } from "../request/day-and-hour.ts";
import { largestCount } from "../request/validation.ts";

/**
 * Answers with at most as many cells × hours, to at most as many requests, are asked for without a click, after a pause:
 * of more, the cost is seen first.
 */
const askedForByItself = 12_000;
const requestsByItself = 2;
const pauseMilliseconds = 900;

/** Whether a query has few enough areas to be asked for where its cost was not seen before. */
export function hasFewRequests({ areas }: Query): boolean {
  return areas.length <= requestsByItself;
}

/** Whether a query is asked for without a click: by the cells × hours of all its areas together. */
export function isAskedByItself(query: Query): boolean {
  const { areas, precision, hours } = query;
  return hasFewRequests(query) && largestCount(query, precision) * areas.length * hours <= askedForByItself;
}

/**
 * What is asked for before all hours of a query: the one that is shown first, which is a small part of them. Several areas
 * are asked for at once, as they would be twice as many requests.
 */
export function firstAsked(query: Query, wanted: Date | undefined): Query {
  const starts = Array.from({ length: query.hours }, (_, hour) => ({ start: afterHours(query.from, hour) }));
  const { start } = starts[firstShown(starts, wanted)] ?? {};
  return start === undefined || query.areas.length > 1 ? query : { ...query, from: start, hours: 1 };
}

/** Asks for one thing at a time, and says that it does. */
export class Retrieval {
  readonly #asking = new Asking();
  /** Where it is said. */
  readonly element = this.#asking.element;
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** Reads what can be asked for; undefined if that was refused. */
  async capabilities(): Promise<Capabilities | undefined> {
    const ask = async () => (await callApi("populationdensitydata/capabilities")).json as Capabilities;
    return await this.#asking.ask({ ask, text: "Reading what can be asked for…" });
  }

  /**
   * Sends the requests of a query, ending those in progress.
   * @returns undefined if it was cancelled or refused, and the page says so.
   */
  async densities(query: Query, week: TypicalWeek, text?: string): Promise<Densities | undefined> {
    this.stopWaiting();
    const requests = requestsOf(query);
    return await this.#asking.ask({
      ask: (signal, say) =>
        retrieveDensities(requests, week, signal, (index) => {
          if (requests.length > 1) say(`Asking for area ${index + 1} of ${requests.length}…`);
        }),
      ...(text !== undefined && { text }),
      isCancellable: true,
    });
  }

  /** Asks after a pause, unless something else happens meanwhile. */
  wait(ask: () => void): void {
    this.stopWaiting();
    this.#pause = setTimeout(ask, pauseMilliseconds);
  }

  stopWaiting(): void {
    clearTimeout(this.#pause);
  }

  /** Ends what is being asked, and removes what was said. */
  clear(): void {
    this.stopWaiting();
    this.#asking.clear();
  }
}

/** Requests densities, of one area after the other. @param onNext is called before each request, with its index */
async function retrieveDensities(
  requests: readonly DensityRequest[],
  week: TypicalWeek,
  signal: AbortSignal,
  onNext: (index: number) => void,
): Promise<Densities> {
  const answers: DensityAnswer[] = [];
  for (const [index, request] of requests.entries()) {
    onNext(index);
    const body = JSON.stringify(request);
    const options = { method: "POST", body, accept: "application/geo+json", signal };
    const { headers, json } = await callApi(retrievalPath, options);
    answers.push({ body: json as DensityBody, bases: parseBases(headers.get("x-density-basis")) });
  }
  return parseDensities(answers, week);
}
