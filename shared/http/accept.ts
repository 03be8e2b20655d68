import { weightedValues } from "./weights.ts";

/**
 * The offered media type that a caller's `Accept` prefers (RFC 9110, 12.5.1): the one with the largest weight; among
 * equals, the one named most specifically, then the one named first, then the first of `offered`. Parameters other than
 * the weight are ignored, and so is anything that is not a media range.
 * @returns the first of `offered` if the header has no media range, undefined if it accepts none of them.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
): Type | undefined {
  const ranges = weightedValues(accept ?? "")
    .map(({ value, weight }, order) => ({ range: value === "*" ? "*/*" : value, weight, order }))
    .filter(({ range }) => /^[^/]+\/[^/]+$/.test(range));
  if (ranges.length === 0) return offered[0];
  const acceptable = offered.flatMap((type) => {
    const [match] = ranges
      .map((range) => ({ ...range, exactness: exactnessOf(range.range, type) }))
      .filter(({ exactness }) => exactness > 0)
      .sort((one, other) => other.exactness - one.exactness || other.weight - one.weight);
    return match !== undefined && match.weight > 0 ? [{ type, ...match }] : [];
  });
  acceptable.sort(
    (one, other) => other.weight - one.weight || other.exactness - one.exactness || one.order - other.order,
  );
  return acceptable[0]?.type;
}

/** How specifically a range names a type: 3 for the type itself, 2 for `kind/*`, 1 for all types, 0 if it does not. */
function exactnessOf(range: string, type: string): number {
  if (range === type) return 3;
  if (range === "*/*") return 1;
  return range.endsWith("/*") && type.startsWith(range.slice(0, -1)) ? 2 : 0;
}
