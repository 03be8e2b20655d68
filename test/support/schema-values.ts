import fc from "fast-check";
import * as z from "zod";
import { partAt } from "./document.ts";

/** The schema keywords from which values of requests are generated. */
const schemaForm = z.strictObject({
  $ref: z.string().optional(),
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  // Annotations, which do not restrict values.
  description: z.unknown().optional(),
  examples: z.unknown().optional(),
  default: z.unknown().optional(),
  "x-camara-release": z.unknown().optional(),
});

const ofFormat: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "date-time": fc
    .date({ min: new Date("2020-01-01"), max: new Date("2035-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  date: fc
    .date({ min: new Date("1990-01-01"), max: new Date("2035-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  uuid: fc.uuid(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
};

/**
 * Values that a schema of the document accepts, mostly: a pattern with a format may refuse them.
 * @param named values of members of these names, which are better not made up.
 * @throws {Error} for a keyword that is not known.
 */
export function valuesOf(
  schema: unknown,
  named: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<unknown> {
  const { $ref, anyOf, enum: values, ...form } = schemaForm.parse(schema);
  if ($ref !== undefined) return valuesOf(partAt($ref)?.value, named);
  if (values !== undefined) return fc.constantFrom(...values);
  switch (form.type) {
    case "object":
      return objects(form, named);
    case "array":
      return fc.array(valuesOf(form.items, named), {
        minLength: form.minItems ?? 0,
        maxLength: form.maxItems ?? 4,
      });
    case "integer":
      return fc.integer({ min: form.minimum ?? -(2 ** 31), max: form.maximum ?? 2 ** 31 });
    case "number":
      return fc.double({ min: form.minimum ?? -1e9, max: form.maximum ?? 1e9, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "string":
      return strings(form);
    default:
      throw new Error(`no values of type ${form.type}`);
  }
}

type Form = Omit<z.infer<typeof schemaForm>, "$ref" | "anyOf" | "enum">;

function objects(
  { properties = {}, required = [] }: Form,
  named: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<unknown> {
  const members: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    Object.entries(properties).map(([name, of]) => [name, named[name] ?? valuesOf(of, named)]),
  );
  return fc.record(members, { requiredKeys: required });
}

function strings({ format, pattern, minLength = 0, maxLength = 300 }: Form): fc.Arbitrary<string> {
  const made =
    (format === undefined ? undefined : ofFormat[format]) ??
    (pattern === undefined
      ? fc.string({ minLength, maxLength: Math.min(maxLength, 60) })
      : fc.stringMatching(new RegExp(pattern)));
  return made.filter(({ length }) => length >= minLength && length <= maxLength);
}
