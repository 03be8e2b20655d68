import type { ErrorInfo } from "./schema.d.ts";

/** An error that the service answered with, for callers who would rather throw it than look at `error`. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  /** Of the service's own codes; absent when something else on the way has answered. */
  readonly code: string | undefined;
  /** What the service's logs name the request by. */
  readonly correlator: string | undefined;

  constructor(response: Response, error: ErrorInfo | undefined) {
    super(error?.message ?? `The service answered with status ${response.status}.`);
    this.status = response.status;
    this.code = error?.code;
    this.correlator = response.headers.get("x-correlator") ?? undefined;
  }
}
