import * as z from "zod";
import { expectationOf, isMissing } from "../../shared/http/invalid.ts";
import { nearestName } from "../../shared/nearest-name.ts";

const formats: Readonly<Record<string, string>> = {
  datetime: "must be a date-time with a zone (RFC 3339) such as 2026-11-23T11:25:00Z",
  email: "must be an e-mail address",
  url: "must be an address such as https://example.com",
};

/**
 * What a schema expects where it refuses a value, without that value.
 * @param value the whole value that was refused.
 */
export function problemText(issue: z.core.$ZodIssue, value: unknown): string {
  if (isMissing(issue.path, value)) return "is missing";
  if (issue.code === "custom") return issue.message;
  const format = issue.code === "invalid_format" ? formats[issue.format] : undefined;
  return format ?? expectationOf(issue);
}

/** The issues without those of a member that an earlier one names, or names something within. */
export function firstOfEach(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const isWithin = (inner: readonly PropertyKey[], outer: readonly PropertyKey[]) =>
    outer.every((part, at) => inner[at] === part);
  return issues.filter(
    ({ path }, index) => !issues.slice(0, index).some((earlier) => isWithin(earlier.path, path)),
  );
}

/** What is said of a member that a schema does not have: the nearest of those it has, if one is near. */
export function unknownMember(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const nearest = nearestName(String(path.at(-1)), membersAt(schema, path.slice(0, -1)));
  return `unknown field${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
}

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
}

/** The names of the members that a schema has at a path. */
function membersAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const alternatives = (one: JsonSchema): JsonSchema[] => {
    const named = one.$ref === undefined ? undefined : root.$defs?.[one.$ref.replace("#/$defs/", "")];
    const further = [...(named === undefined ? [] : [named]), ...(one.allOf ?? []), ...(one.anyOf ?? [])];
    return [one, ...further.flatMap(alternatives)];
  };
  let reached = alternatives(root);
  for (const part of path) {
    reached = reached
      .flatMap(
        ({ properties, items, additionalProperties }) =>
          properties?.[String(part)] ?? items ?? additionalProperties ?? [],
      )
      .flatMap(alternatives);
  }
  return reached.flatMap(({ properties = {} }) => Object.keys(properties));
}
