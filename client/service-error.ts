import type { ErrorInfo } from "./schema.d.ts";

/** An error response of the service, for callers who prefer throwing to checking `error`. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  /** One of the service's codes; absent if something between client and service has answered. */
  readonly code: string | undefined;
  /** The identifier of the request in the service's logs. */
  readonly correlator: string | undefined;

  constructor(response: Response, error: ErrorInfo | undefined) {
    super(error?.message ?? `The service answered with status ${response.status}.`);
    this.status = response.status;
    this.code = error?.code;
    this.correlator = response.headers.get("x-correlator") ?? undefined;
  }
}
