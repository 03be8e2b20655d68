/** Stands in documented output for any part of a text, or for further members. */
const anything = "…";

/**
 * The difference between documented and actual output; undefined if there is none. JSON is compared as JSON: a member
 * or an element `"…"` stands for any others. Elsewhere `…` stands for any text, and trailing spaces are ignored.
 */
export function differenceOf(shown: string, actual: string): string | undefined {
  const json = jsonIn(shown);
  const isShown =
    json === undefined ? matchesText(shown, actual) : matches(json.value, jsonIn(actual)?.value);
  return isShown ? undefined : `shown:\n${shown}\nwritten:\n${actual}`;
}

function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function matches(shown: unknown, actual: unknown): boolean {
  if (typeof shown === "string") {
    if (shown === anything) return actual !== undefined;
    return shown.includes(anything)
      ? typeof actual === "string" && matchesText(shown, actual)
      : shown === actual;
  }
  if (typeof shown !== "object" || shown === null) return shown === actual;
  if (typeof actual !== "object" || actual === null || Array.isArray(shown) !== Array.isArray(actual))
    return false;
  const isPart = Array.isArray(shown) ? shown.at(-1) === anything : Object.hasOwn(shown, anything);
  const wanted = Object.entries(shown).filter(
    ([name, value]) => name !== anything && !(Array.isArray(shown) && isPart && value === anything),
  );
  const found = new Map(Object.entries(actual));
  return (
    wanted.every(([name, value]) => matches(value, found.get(name))) &&
    (isPart ? found.size > wanted.length : found.size === wanted.length)
  );
}

function matchesText(shown: string, actual: string): boolean {
  const pattern = linesOf(shown)
    .split(anything)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^]*?");
  return new RegExp(`^${pattern}$`).test(linesOf(actual));
}

function linesOf(text: string): string {
  return text.replaceAll(/[ \t\r]+$/gm, "").trim();
}
