import type { Format } from "./format.ts";

/** A list or range of numbers from `min` to `max`, returned in ascending order. */
function numbers(min: number, max: number): Format<readonly number[]> {
  const read = (value: string) => {
    const named = new Set<number>();
    for (const part of value.split(",")) {
      const [, first, last = first] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(part) ?? [];
      if (first === undefined || Number(first) < min || Number(last) > max || Number(first) > Number(last)) {
        return undefined;
      }
      for (let number = Number(first); number <= Number(last); number++) named.add(number);
    }
    return [...named].sort((one, other) => one - other);
  };
  return {
    read,
    must: `be whole numbers from ${min} to ${max} and ranges of them, separated by commas, such as 3-5,7`,
  };
}

/** Supported geohash lengths. */
export const DENSITY_PRECISIONS = {
  name: "DENSITY_PRECISIONS",
  default: "3-7",
  format: () => numbers(1, 12),
};
