/** Requests to the API of the stage that serves this page. */

/** An error response of the API; status 0 if there was no response. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The URL of a path of the API. */
export function apiUrl(path: string): string {
  return new URL(path, document.baseURI).href;
}

/**
 * Sends a request, without cookies, bypassing the browser's cache.
 * @throws {ApiError} unless the response is successful.
 */
export async function send(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path), { ...options, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "UNREACHABLE", "The service cannot be reached.");
  }
  if (response.ok) return response;
  throw errorFrom(response.status, await response.text());
}

function errorFrom(status: number, text: string): ApiError {
  try {
    const { code, message } = JSON.parse(text) as { readonly code?: unknown; readonly message?: unknown };
    if (typeof code === "string" && typeof message === "string") return new ApiError(status, code, message);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new ApiError(status, String(status), `The service answered with status ${status}.`);
}
