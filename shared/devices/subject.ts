import type { Caller } from "../caller.ts";
import { type Identifier, subscriptionIdentifier } from "./keys.ts";

/** The subscriber that a request is about, or the code with which the request is refused. */
type Subject<Refused> = { readonly identifier: Identifier } | { readonly refused: Refused };

/**
 * The subject of a request (specification 5.3, 2.9): the subscription of a 3-legged token, otherwise the first
 * supported identifier of the request, alone.
 *
 * @param identifiers the supported identifiers of the request, in order of precedence; `undefined` if the request has
 * no identifiers, empty if it has none that is supported.
 * @returns `undefined` if neither token nor request names a subscriber.
 */
export function subjectOf(
  caller: Caller,
  identifiers: readonly [Identifier, ...Identifier[]] | undefined,
): Subject<"UNNECESSARY_IDENTIFIER"> | undefined;
export function subjectOf(
  caller: Caller,
  identifiers: readonly Identifier[] | undefined,
): Subject<"UNNECESSARY_IDENTIFIER" | "UNSUPPORTED_IDENTIFIER"> | undefined;
export function subjectOf({ subscription }: Caller, identifiers: readonly Identifier[] | undefined) {
  if (subscription !== undefined) {
    return identifiers === undefined
      ? { identifier: subscriptionIdentifier(subscription) }
      : { refused: "UNNECESSARY_IDENTIFIER" };
  }
  if (identifiers === undefined) return undefined;
  const [identifier] = identifiers;
  return identifier === undefined ? { refused: "UNSUPPORTED_IDENTIFIER" } : { identifier };
}
