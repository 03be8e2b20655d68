import { randomUUID } from "node:crypto";
import { correlator } from "../schemas.ts";

/** The header's name, in lower case. */
export const correlatorHeader = "x-correlator";

/** The header with API Gateway's id of a request, in lower case; every response has it. */
export const requestIdHeader = "x-request-id";

/** The correlator of a request and its response (behaviour section 2). */
export interface Correlation {
  /** The value in the response: the caller's, or a new one. */
  readonly value: string;
  /** Whether the caller sent an invalid value; it is never echoed. */
  readonly invalid: boolean;
}

/** Reads the correlator; makes one if it is absent, empty or invalid. */
export function correlationOf(received: string | undefined): Correlation {
  if (received === undefined || received === "") return { value: randomUUID(), invalid: false };
  return correlator.safeParse(received).success
    ? { value: received, invalid: false }
    : { value: randomUUID(), invalid: true };
}
