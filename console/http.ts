/** Requests to the API of the stage that serves this page: the one way that map, forms and reference send them. */

/** An error response of the API; status 0 if there was no response. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which the same request may be answered, if the response names them. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** How long a request may take: longer than the service does for any. */
const patienceMilliseconds = 35_000;

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
 * Sends a request, without cookies, bypassing the browser's cache. A response of any status is returned.
 * @throws {ApiError} of status 0 without a response.
 * @throws {DOMException} AbortError if the request was aborted.
 */
export async function fetchFrom(path: string, options: RequestInit): Promise<Response> {
  const deadline = AbortSignal.timeout(patienceMilliseconds);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  try {
    const response = await fetch(apiUrl(path), {
      ...options,
      signal,
      credentials: "omit",
      cache: "no-store",
    });
    tellAllowance(response.headers);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error;
    throw new ApiError(0, "UNREACHABLE", "The service cannot be reached.");
  }
}

/**
 * Sends a request as {@link fetchFrom} does.
 * @throws {ApiError} unless the response is successful.
 */
export async function send(path: string, options: RequestInit): Promise<Response> {
  const response = await fetchFrom(path, options);
  if (response.ok) return response;
  throw errorOf(response, await response.text());
}

function tellAllowance(headers: Headers): void {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  );
  if (!Number.isFinite(limit) || !Number.isFinite(remaining) || !Number.isFinite(reset)) return;
  const resetsAt = new Date(Date.now() + (reset ?? 0) * 1_000);
  for (const tell of allowanceListeners) tell({ limit: limit ?? 0, remaining: remaining ?? 0, resetsAt });
}

/** The error of an unsuccessful response. @param text its body */
export function errorOf({ status, headers }: Response, text: string): ApiError {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
  try {
    const { code, message } = JSON.parse(text) as { readonly code?: unknown; readonly message?: unknown };
    if (typeof code === "string" && typeof message === "string") {
      return new ApiError(status, code, message, retryAfter);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new ApiError(status, String(status), `The service answered with status ${status}.`, retryAfter);
}
