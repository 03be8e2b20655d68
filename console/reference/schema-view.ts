/** Schemas as lists of members, each with its type, its limits and, folded, its own members. */
import { html } from "../base/dom.ts";
import {
  type ApiDocument,
  type ApiResponse,
  type OrReference,
  type Parameter,
  resolve,
  type Schema,
} from "./document.ts";
import { prose } from "./prose.ts";

/** A list of parameters. */
export function parameterList(document: ApiDocument, parameters: readonly Parameter[]): HTMLElement {
  return html(
    "ul",
    { class: "members" },
    ...parameters.map(({ name, description, required = false, schema, example }) => {
      const resolved = resolve(document, schema);
      const described = description === undefined ? resolved : { ...resolved, description };
      return memberItem(
        document,
        name,
        { ...described, examples: example === undefined ? [] : [example] },
        required,
      );
    }),
  );
}

/** A list of the headers of responses. */
export function headerList(document: ApiDocument, headers: NonNullable<ApiResponse["headers"]>): HTMLElement {
  return html(
    "ul",
    { class: "members" },
    ...Object.entries(headers).map(([name, header]) => {
      const { description = "" } = resolve(document, header);
      return html(
        "li",
        {},
        html("p", { class: "member" }, html("code", { class: "name" }, name)),
        ...prose(description),
      );
    }),
  );
}

/** What a body is: its description, and its members. */
export function bodyView(document: ApiDocument, body: OrReference<Schema>): readonly (Node | string)[] {
  const schema = resolve(document, body);
  return [...prose(schema.description ?? ""), ...membersOf(document, schema, false)];
}

/**
 * The lists of the members of an object, or of the objects in an array.
 * @param isFolded whether each list is shown only when it is asked for.
 */
function membersOf(document: ApiDocument, schema: Schema, isFolded: boolean): readonly HTMLElement[] {
  return objectsIn(document, schema).map((object, index, { length }) => {
    const list = html(
      "ul",
      { class: "members" },
      ...Object.entries(object.properties ?? {}).map(([name, member]) =>
        memberItem(document, name, resolve(document, member), object.required?.includes(name) ?? false),
      ),
    );
    if (!isFolded) return list;
    const which = length === 1 ? "" : ` (${index + 1} of ${length})`;
    return html("details", { class: "nested" }, html("summary", {}, `Members${which}`), list);
  });
}

function memberItem(document: ApiDocument, name: string, schema: Schema, isRequired: boolean): HTMLElement {
  const limits = limitsOf(schema);
  return html(
    "li",
    {},
    html(
      "p",
      { class: "member" },
      html("code", { class: "name" }, name),
      html("span", { class: "type" }, typeOf(document, schema)),
      isRequired && html("span", { class: "required" }, "required"),
    ),
    ...prose(schema.description ?? ""),
    limits.length > 0 && html("p", { class: "constraints" }, ...limits),
    ...membersOf(document, schema, true),
  );
}

/** The objects that a schema has members of: itself, those of an array, those of a map, or the alternatives. */
function objectsIn(document: ApiDocument, schema: Schema): readonly Schema[] {
  const { properties, items, anyOf = [], additionalProperties } = schema;
  if (properties !== undefined) return [schema];
  const parts = [...anyOf, ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === "object") parts.push(additionalProperties);
  return parts.flatMap((part) => objectsIn(document, resolve(document, part)));
}

/** The type in words, such as “array of strings or null”. */
function typeOf(document: ApiDocument, { type, items, anyOf, const: only, format }: Schema): string {
  if (anyOf !== undefined) {
    const types = anyOf.map((part) => typeOf(document, resolve(document, part)));
    return [...new Set(types)].join(" or ");
  }
  if (only !== undefined) return JSON.stringify(only);
  if (type === "array" && items !== undefined)
    return `array of ${typeOf(document, resolve(document, items))}s`;
  const name = [type ?? "any value"].flat().join(" or ");
  return format === undefined ? name : `${name} (${format})`;
}

/** Limits, values, default and example. */
function limitsOf(schema: Schema): readonly (Node | string)[] {
  const { enum: values, default: fallback, examples = [], pattern, format } = schema;
  const code = (value: unknown) =>
    html("code", {}, typeof value === "string" ? value : JSON.stringify(value));
  const limits = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " character"),
    range(schema.minItems, schema.maxItems, " item"),
  ].filter((limit) => limit !== "");
  const parts: readonly (readonly (Node | string)[])[] = [
    ...limits.map((limit) => [limit]),
    ...(values === undefined ? [] : [["One of ", ...values.flatMap((value) => [code(value), " "])]]),
    // A format says the same in fewer characters.
    ...(pattern === undefined || format !== undefined ? [] : [["Pattern ", code(pattern)]]),
    ...(fallback === undefined ? [] : [["Default ", code(fallback)]]),
    ...(examples[0] === undefined || typeof examples[0] === "object"
      ? []
      : [["Example ", code(examples[0])]]),
  ];
  return parts.map((part) => html("span", {}, ...part));
}

/** The bounds of every integer in a double, which say nothing. */
const unlimited = Number.MAX_SAFE_INTEGER;

function range(minimum = -unlimited, maximum = unlimited, unit: string): string {
  const [hasMinimum, hasMaximum] = [minimum > -unlimited, maximum < unlimited];
  const counted = (count: number) => `${count}${unit}${unit === "" || count === 1 ? "" : "s"}`;
  if (hasMinimum && hasMaximum) {
    return minimum === maximum ? counted(minimum) : `${minimum} to ${counted(maximum)}`;
  }
  if (hasMinimum) return `At least ${counted(minimum)}`;
  return hasMaximum ? `At most ${counted(maximum)}` : "";
}
