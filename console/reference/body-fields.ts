/** Fields for the members of a body, where each has one value or is an object of such members. */
import { html } from "../base/dom.ts";
import { type ApiDocument, type OrReference, resolve, type Schema } from "./document.ts";
import { enteredValue, labelled, valueField } from "./value-field.ts";

/** Whether a body can be entered in fields. */
export function isFlat(document: ApiDocument, { properties = {} }: Schema): boolean {
  return Object.values(properties).every((member) => {
    const schema = resolve(document, member);
    return schema.properties === undefined ? isScalar(schema) : isFlat(document, schema);
  });
}

function isScalar({ type }: Schema): boolean {
  return type === "string" || type === "integer" || type === "number";
}

interface FieldOptions {
  /** The names of the members that have fields; all without it. Their names are then shown in words. */
  readonly only?: readonly string[];
  readonly onChange: () => void;
}

/** Elements, and what was entered in them: undefined for nothing. */
interface Fields {
  readonly elements: readonly HTMLElement[];
  readonly read: () => unknown;
}

/** Creates the fields of an object, filled in with a value of it. */
export function bodyFields(
  document: ApiDocument,
  { properties = {}, required = [] }: Schema,
  value: unknown,
  options: FieldOptions,
): Fields {
  const values = Object(value) as Readonly<Record<string, unknown>>;
  const members = Object.entries(properties)
    .filter(([name]) => options.only?.includes(name) ?? true)
    .map(([name, member]) => ({
      name,
      ...memberFields(document, name, member, required.includes(name), values[name], options),
    }));
  const read = () => {
    const entered = members
      .map(({ name, read: readMember }) => [name, readMember()] as const)
      .filter(([, one]) => one !== undefined);
    return entered.length === 0 ? undefined : Object.fromEntries(entered);
  };
  return { elements: members.flatMap(({ elements }) => elements), read };
}

function memberFields(
  document: ApiDocument,
  name: string,
  member: OrReference<Schema>,
  isRequired: boolean,
  value: unknown,
  options: FieldOptions,
): Fields {
  const schema = resolve(document, member);
  if (schema.properties !== undefined) {
    // The API says what an object lacks that is there in part.
    const inner = bodyFields(document, { ...schema, required: [] }, value, options);
    if (options.only !== undefined) return inner;
    const [summary, group] = [html("summary", {}, html("code", {}, name)), { class: "member-fields" }];
    return {
      elements: [html("details", { ...group, open: value !== undefined }, summary, ...inner.elements)],
      read: inner.read,
    };
  }
  const field = valueField(schema, { value: String(value ?? ""), isRequired, change: options.onChange });
  const read = () => (field.value === "" ? undefined : enteredValue(schema, field.value));
  return { elements: [labelled(name, isRequired, field, options.only !== undefined)], read };
}
