import { randomUUID } from "node:crypto";
import { correlator } from "../schemas.ts";

/** The header's name, in lower case. */
export const correlatorHeader = "x-correlator";

/** What a request's `x-correlator` means (behaviour section 2). */
export interface Correlation {
  /** The value every response carries: the caller's, or one of ours. */
  readonly value: string;
  /** Whether the caller sent a value that is refused; such a value is never echoed. */
  readonly invalid: boolean;
}

/** Reads the correlator; absent or empty gives one of ours. */
export function correlationOf(sent: string | undefined): Correlation {
  if (sent === undefined || sent === "") return { value: randomUUID(), invalid: false };
  return correlator.safeParse(sent).success
    ? { value: sent, invalid: false }
    : { value: randomUUID(), invalid: true };
}
