import { nearestName } from "../../../../shared/nearest-name.ts";
import { columns, type Fields, isColumn, type LineProblem, shownName } from "./row-check.ts";

/** The fields of lines that each hold a JSON object; blank ones are skipped. @param count of the lines. */
export function* ndjsonFields(
  text: string,
  count: number,
  refuse: (problem: LineProblem) => void,
): Generator<Fields> {
  const lines = text.split("\n", count);
  for (let line = 0; line < lines.length; line++) {
    const content = lines[line] ?? "";
    if (content.trim() === "") continue;
    const members = objectIn(content);
    if (members === undefined) refuse({ line, reason: "is not a JSON object" });
    else {
      const unknown = Object.keys(members).find((name) => !isColumn(name));
      const { geohash, startTime, people, minPeople, maxPeople } = members;
      if (unknown === undefined) yield { geohash, startTime, people, minPeople, maxPeople, line };
      else
        refuse({
          line,
          reason: `has an unknown member (${shownName(unknown)}); expected ${columns.join(", ")}${hintFor(unknown)}`,
        });
    }
  }
}

function hintFor(unknown: string): string {
  const nearest = nearestName(unknown, columns);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
