/** Requests to the API of the stage that serves this page: the one way that map, forms and reference send them. */
import { useServiceClock } from "./time.ts";
import { type Answer, fetchWhole, successful } from "./whole-answer.ts";

/** What is left of the caller's allowance, as a response says. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: Date;
}

const allowanceListeners = new Set<(allowance: Allowance) => void>();

/** Calls the listener with the allowance that each response names from now on. */
export function onAllowance(listener: (allowance: Allowance) => void): void {
  allowanceListeners.add(listener);
}

/** The URL of a path of the API. */
export function apiUrl(path: string): string {
  return new URL(path, document.baseURI).href;
}

/**
 * Sends a request to the API, without cookies, bypassing the browser's cache. A response of any status is returned.
 * @throws as {@link fetchWhole} does.
 */
export async function fetchFrom(path: string, options: RequestInit): Promise<Answer> {
  const answer = await fetchWhole(apiUrl(path), { ...options, credentials: "omit", cache: "no-store" });
  useServiceClock(answer.headers.get("date"));
  tellAllowance(answer.headers);
  return answer;
}

/** A request, and the media type that its answer shall have. */
export type ApiRequest = RequestInit & { readonly accept?: string };

/**
 * Sends a request as {@link fetchFrom} does.
 * @throws {ApiError} unless the response is successful, and of the media type that was asked for.
 */
export async function send(
  path: string,
  { accept = "application/json", ...options }: ApiRequest,
): Promise<Answer> {
  const answer = await fetchFrom(path, { ...options, headers: { ...options.headers, accept } });
  return successful(answer, [accept]);
}

function tellAllowance(headers: Headers): void {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  );
  if (!Number.isFinite(limit) || !Number.isFinite(remaining) || !Number.isFinite(reset)) return;
  const resetsAt = new Date(Date.now() + (reset ?? 0) * 1_000);
  for (const tell of allowanceListeners) tell({ limit: limit ?? 0, remaining: remaining ?? 0, resetsAt });
}
