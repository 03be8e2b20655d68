/**
 * The values at a path such as `$.list[*].name`: one for each item where it has `[*]`, and undefined for each place that
 * has none.
 */
export function valuesAt(value: unknown, path: string): readonly unknown[] {
  return segmentsOf(path).reduce<readonly unknown[]>(
    (values, segment) =>
      values.flatMap((one) => {
        if (segment === "*") return Array.isArray(one) ? one : [undefined];
        return [memberOf(one, segment)];
      }),
    [value],
  );
}

/** A copy with a value at a path without `[*]`, and objects on the way to it; without the member for undefined. */
export function withValue(value: unknown, path: string, placed: unknown): unknown {
  return placedAt(value, segmentsOf(path), placed);
}

/** The members of a path, outermost first; a path that a feature misspells is taken as far as it goes. */
export function segmentsOf(path: string): readonly string[] {
  return [...path.matchAll(/\.(\w+)|\[(\d+|\*)\]/g)].map(([, name, index]) => name ?? index ?? "");
}

function placedAt(value: unknown, [segment, ...rest]: readonly string[], placed: unknown): unknown {
  if (segment === undefined) return placed;
  const object = typeof value === "object" && value !== null ? value : {};
  const inner = placedAt(memberOf(object, segment), rest, placed);
  const { [segment]: _, ...others } = object as Record<string, unknown>;
  return inner === undefined ? others : { ...others, [segment]: inner };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
