/** Answers that are read to their end: the one place where the page reads a response. */

/** An error response of the API; status 0 if there was no response, or not all of it. */
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

/** A response whose body has arrived whole. */
export interface Answer extends Pick<Response, "status" | "statusText" | "ok" | "headers"> {
  readonly text: string;
  /** The body where its media type is JSON, otherwise undefined. */
  readonly json: unknown;
}

/**
 * Asks an address, and reads what it answers to its end. Nothing else of the page reads a response, so that a body that
 * breaks off is everywhere what a missing response is. A response of any status is returned.
 * @param host what the address leads to, in the sentence that it cannot be reached
 * @throws {ApiError} of status 0 without a response, or without the end of its body.
 * @throws {DOMException} AbortError if the request was aborted.
 */
export async function fetchWhole(
  url: string,
  options: RequestInit = {},
  host = "The service",
): Promise<Answer> {
  const signal = firstOf(options.signal, AbortSignal.timeout(patienceMilliseconds));
  const response = await fetch(url, { ...options, signal }).catch(
    failedAs("UNREACHABLE", `${host} cannot be reached.`),
  );
  return answerOf(response, await response.text().catch(failedAs(...brokenOff)));
}

/** A signal that is aborted with the first of some: Safari 16 has no `AbortSignal.any`. */
function firstOf(...signals: readonly (AbortSignal | null | undefined)[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { signal: controller.signal });
  }
  return controller.signal;
}

const brokenOff = ["BROKEN_OFF", "The answer broke off before its end."] as const;

/** A handler of the browser's errors: an abort by the page stays what it is, others become an ApiError. */
function failedAs(code: string, message: string): (error: unknown) => never {
  return (error) => {
    const isAborted = error instanceof DOMException && error.name === "AbortError";
    if (isAborted || !(error instanceof TypeError || error instanceof DOMException)) throw error;
    throw new ApiError(0, code, message);
  };
}

/** @throws {ApiError} if the text of a success has no end, as behind a proxy that gives a part for the whole. */
function answerOf({ status, statusText, ok, headers }: Response, text: string): Answer {
  const type = headers.get("content-type") ?? "";
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(type);
  const isLines = /^(?:text\/csv|application\/x-ndjson)\b/.test(type);
  const json = isJson ? jsonOf(text) : undefined;
  const isWhole = isJson ? json !== undefined : !isLines || text === "" || text.endsWith("\n");
  if (ok && !isWhole) throw new ApiError(0, ...brokenOff);
  return { status, statusText, ok, headers, text, json };
}

/** What a text is as JSON; undefined if it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** @throws {ApiError} unless the answer is successful, and of one of the media types. */
export function successful(answer: Answer, mediaTypes: readonly string[] = ["application/json"]): Answer {
  if (!answer.ok) throw errorOf(answer);
  const type = answer.headers.get("content-type") ?? "";
  if (mediaTypes.some((mediaType) => type.startsWith(mediaType))) return answer;
  throw new ApiError(
    answer.status,
    "NOT_THE_SERVICE",
    "Something other than the service answered, such as the login page of a network.",
  );
}

/** The error of an unsuccessful response. */
function errorOf({ status, headers, json }: Answer): ApiError {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
  const { code, message } = (json ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === "string" && typeof message === "string") {
    return new ApiError(status, code, message, retryAfter);
  }
  return new ApiError(status, String(status), `The service answered with status ${status}.`, retryAfter);
}
