import type * as z from "zod/mini";
import { ApiError, type Code } from "../errors.ts";

/** Codes that take precedence over any other issue; a schema sets them in the `params` of a refinement. */
const specific = [
  "INVALID_CREDENTIAL",
  "INVALID_TOKEN",
  "INVALID_SINK",
  "POPULATION_DENSITY_DATA.INVALID_AREA",
] as const satisfies readonly Code[];

/**
 * Turns the issues of a schema into one error (behaviour section 3): the first of the specific codes that an issue has;
 * `OUT_OF_RANGE` if all issues have it; otherwise `INVALID_ARGUMENT`. The message of the last two names the first
 * invalid field, never its value.
 */
export function invalid(issues: readonly z.core.$ZodIssue[]): ApiError {
  const [first] = issues;
  const asked = issues.map((issue) => (issue.code === "custom" ? issue.params?.code : undefined));
  const code = specific.find((candidate) => asked.includes(candidate));
  if (code !== undefined) return new ApiError(code);
  const member = first?.path.map(String).join(".") || "The body";
  return asked.every((one) => one === "OUT_OF_RANGE")
    ? new ApiError("OUT_OF_RANGE", { message: `${member} is out of range.` })
    : new ApiError("INVALID_ARGUMENT", { message: `${member} is invalid.` });
}
