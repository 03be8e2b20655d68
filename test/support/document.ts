import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import * as z from "zod";
import document from "../../docs/openapi.json" with { type: "json" };

const members = z.record(z.string(), z.unknown());

// A validator that the service does not use; it is only told the extension keywords of OpenAPI.
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, "document");
const compiled = new Map<string, ValidateFunction>();

/** The validation errors of a value under the schema at a JSON pointer (`#/…`) of the OpenAPI document. */
export function schemaFaults(pointer: string, value: unknown): readonly unknown[] {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` });
  compiled.set(pointer, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

/** A name in a JSON pointer that is the fragment of a URI (RFC 6901 section 6). */
export function pointerName(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** A part of the document with its pointer. */
export interface Part {
  readonly pointer: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The part at a pointer, with a reference there resolved; undefined if there is none. */
export function partAt(pointer: string, ...names: readonly string[]): Part | undefined {
  const path = [pointer, ...names.map(pointerName)].join("/");
  const steps = path
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = steps.reduce<unknown>(
    (part, name) =>
      (typeof part === "object" && part !== null ? Object.entries(part) : []).find(
        ([key]) => key === name,
      )?.[1],
    document,
  );
  const value = members.safeParse(found).data;
  if (value === undefined) return undefined;
  return typeof value.$ref === "string" && Object.keys(value).length === 1
    ? partAt(value.$ref)
    : { pointer: path, value };
}

/** The verbs and paths of all operations. */
export const documentedOperations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((verb) => ({
    path,
    method: verb.toUpperCase(),
    pointer: `#/paths/${pointerName(path)}/${verb}`,
  })),
);
