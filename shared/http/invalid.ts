import type * as z from "zod/mini";
import { ApiError, type Code, errorRow } from "../errors.ts";

/** Codes that take precedence over all other issues; schemas set them in the `params` of a refinement. */
const specific = [
  "INVALID_CREDENTIAL",
  "INVALID_TOKEN",
  "INVALID_SINK",
  "POPULATION_DENSITY_DATA.INVALID_AREA",
] as const satisfies readonly Code[];

/** Maximum of members that one message names. */
const maxNamed = 10;

/**
 * Turns the issues of a schema into one error (behaviour section 3). Its code is
 * 1. the first specific code that an issue has;
 * 2. `OUT_OF_RANGE` if all issues have it;
 * 3. otherwise `INVALID_ARGUMENT`.
 *
 * The message names up to ten invalid members, each once, with what was expected, never a value; those with the error's
 * own code come first.
 *
 * @param value the rejected value; it is used only to tell missing members from invalid ones.
 */
export function invalid(issues: readonly z.core.$ZodIssue[], value: unknown): ApiError {
  const asked = issues.map(codeOf);
  const code = specific.find((candidate) => asked.includes(candidate));
  const first = issues.filter((issue) => code !== undefined && codeOf(issue) === code);
  const problems = new Map<string, string>();
  for (const issue of [...first, ...issues]) {
    const member = memberAt(issue.path);
    if (!problems.has(member)) problems.set(member, problemOf(issue, member, value));
  }
  const named = [...problems.values()].slice(0, maxNamed);
  const others = problems.size - named.length;
  const message = [...named, ...(others === 0 ? [] : [`And ${others} more.`])].join(" ");
  if (code !== undefined) return new ApiError(code, { message });
  const isOutOfRange = asked.every((one) => one === "OUT_OF_RANGE");
  return new ApiError(isOutOfRange ? "OUT_OF_RANGE" : "INVALID_ARGUMENT", { message });
}

function codeOf(issue: z.core.$ZodIssue): unknown {
  return issue.code === "custom" ? issue.params?.code : undefined;
}

/** The path of a member as in JavaScript: `area.boundary[2].latitude`. */
function memberAt(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

function problemOf(issue: z.core.$ZodIssue, member: string, value: unknown): string {
  const code = specific.find((candidate) => candidate === codeOf(issue));
  if (code !== undefined) return errorRow(code).message;
  const name = member === "" ? "The body" : member;
  return isMissing(issue.path, value) ? `${name} is missing.` : `${name} ${expectationOf(issue)}.`;
}

/** Whether a value lacks the member at a path. */
export function isMissing(path: readonly PropertyKey[], value: unknown): boolean {
  const reached = path.reduce<unknown>(
    (value, part) => (value as Readonly<Record<PropertyKey, unknown>> | undefined)?.[part],
    value,
  );
  return reached === undefined;
}

/**
 * What a member must be: the check's own message if it begins with "must"; otherwise a text for the kind of issue.
 * Zod's own messages are not used, because they may contain values of the request.
 */
export function expectationOf(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith("must ")) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `must be ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unitOf(issue.origin)}`;
    default:
      return "has another form than is documented";
  }
}

const typeNames: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  int: "an integer",
  number: "a number",
  object: "an object",
  string: "a string",
};

function unitOf(origin: string): string {
  return { string: " characters long", array: " members long" }[origin] ?? "";
}
