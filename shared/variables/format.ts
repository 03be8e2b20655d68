import type * as z from "zod/mini";

/**
 * An environment variable. Each has a file of its own, which only those import who read it: the bundle of a function
 * depends on every letter of the files that it has, so another variable in one of them would release the function.
 */
export interface Variable {
  readonly name: string;
  /** Made when the variable is read: making schemas at import would slow down cold starts. */
  readonly format: () => Format<unknown>;
}

/** The format of a variable's text. */
export interface Format<Value> {
  /** Parses the text; `undefined` if it is malformed. */
  readonly read: (text: string) => Value | undefined;
  /** Describes the format: the end of the sentence "it must …". */
  readonly must: string;
  /** Says what is wrong with a malformed text, without its values. */
  readonly problem?: (text: string) => string | undefined;
}

/** Any text but an empty one. */
export function text(): Format<string> {
  return { read: (value) => (value === "" ? undefined : value), must: "not be empty" };
}

/** One of the texts. */
export function oneOf<const Choice extends string>(...choices: Choice[]): Format<Choice> {
  return {
    read: (value) => choices.find((choice) => choice === value),
    must: `be one of ${choices.join(", ")}`,
  };
}

/** A whole number in a range. */
export function count(min: number, max: number): Format<number> {
  return {
    read: (value) => {
      const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
    must: `be a whole number from ${min} to ${max}`,
  };
}

/** A format that also accepts a missing or empty variable, as `otherwise`. */
export function whenSet<Value>({ read, must }: Format<Value>, otherwise: Value): Format<Value> {
  return { read: (value) => (value === "" ? otherwise : read(value)), must };
}

/** A text that is JSON of a schema. */
export function json<Value>(
  schema: z.ZodMiniType<Value>,
  must: string,
  problemIn?: (issues: readonly z.core.$ZodIssue[]) => string,
): Format<Value> {
  const parse = (text: string) => {
    try {
      return schema.safeParse(JSON.parse(text));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  };
  return {
    read: (text) => parse(text)?.data,
    must,
    problem: (text) => {
      const parsed = parse(text);
      if (parsed === undefined) return "it is not JSON";
      return parsed.success ? undefined : problemIn?.(parsed.error.issues);
    },
  };
}
