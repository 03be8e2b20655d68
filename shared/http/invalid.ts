import type * as z from "zod/mini";
import { Refusal } from "../errors.ts";

/** A code that a schema can ask for through the `params` of a refinement. */
const codes = ["OUT_OF_RANGE"] as const;

/**
 * Turns the issues of a schema into the refusal they stand for: a code of its own when every issue asks for
 * it, else `INVALID_ARGUMENT`. The message names the first member at fault, never its value.
 */
export function invalid(issues: readonly z.core.$ZodIssue[]): Refusal {
  const [first] = issues;
  const asked = issues.map((issue) => (issue.code === "custom" ? issue.params?.code : undefined));
  const code = codes.find((candidate) => asked.every((one) => one === candidate)) ?? "INVALID_ARGUMENT";
  const member = first?.path.map(String).join(".") || "the body";
  return new Refusal(code, {
    message: code === "OUT_OF_RANGE" ? `Out of range: ${member}.` : `Not valid: ${member}.`,
  });
}
