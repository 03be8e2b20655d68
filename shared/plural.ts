/** A word in the form that a count needs: `record` of 1, `records` of 0 or 2. @param many if it is not `one` with an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
