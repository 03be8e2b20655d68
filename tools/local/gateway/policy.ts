/**
 * IAM's decisions about API calls.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
import * as z from "zod";

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1)]);

/** In patterns, `*` stands for any characters and `?` for one. */
const patterns = (flags: string) =>
  oneOrMore.transform((all) =>
    all.map((pattern) => {
      const escaped = pattern
        .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
        .replaceAll("*", ".*")
        .replaceAll("?", ".");
      return new RegExp(`^${escaped}$`, flags);
    }),
  );

// Strict, because a statement whose other elements were ignored would allow more than it says.
const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(["Allow", "Deny"]),
  Action: patterns("is"),
  Resource: patterns("s"),
});

/** A policy document. Conditions and `Not…` elements are refused. */
export const policySchema = z.object({
  Version: z.string().optional(),
  Statement: z.union([statementSchema.transform((one) => [one]), z.array(statementSchema)]),
});

/** A parsed policy document. */
export type Policy = z.output<typeof policySchema>;

/** A policy's decision. API Gateway distinguishes an implicit deny from an explicit one. */
export type Decision = "allow" | "explicit deny" | "implicit deny";

/** Evaluates a policy for an action on a resource, which is named by its ARN. */
export function decide(policy: Policy, action: string, resource: string): Decision {
  const effects = policy.Statement.filter(
    ({ Action, Resource }) =>
      Action.some((pattern) => pattern.test(action)) && Resource.some((pattern) => pattern.test(resource)),
  ).map(({ Effect }) => Effect);
  if (effects.includes("Deny")) return "explicit deny";
  return effects.includes("Allow") ? "allow" : "implicit deny";
}
