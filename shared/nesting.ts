/** JSON of strangers has at most so many levels of objects and arrays, itself included: more could overflow the stack. */
export const mostLevels = 32;

/** What is wrong with a value that has more levels. */
export const nestedTooDeep = `is nested deeper than ${mostLevels} levels`;

/** Whether a value has more levels than `mostLevels`. It is walked level by level, because recursion could overflow the stack. */
export function isNestedTooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > mostLevels) return true;
    level = level.flatMap((container) => Object.values(container)).filter(isContainer);
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
