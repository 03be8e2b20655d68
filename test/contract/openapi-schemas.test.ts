import { expect, test } from "vitest";
import * as z from "zod";
import document from "../../docs/openapi.json" with { type: "json" };
import { type Part, pointerName, schemaFaults } from "../support/document.ts";

const members = z.record(z.string(), z.unknown());

/** Every object of the document but those of examples. */
const parts = partsOf(document, "#");

test("every property of the OpenAPI document has a description of its own or by reference", () => {
  const properties = parts
    .filter(({ pointer }) => /\/properties$/.test(pointer) && !/\/properties\/properties$/.test(pointer))
    .flatMap(({ pointer, value }) => Object.entries(value).map(([name, one]) => ({ pointer, name, one })));
  const bare = properties.filter(({ one }) => !isDescribed(one));

  expect(bare.map(({ pointer, name }) => `${pointer}/${name}`)).toEqual([]);
});

test.each([
  ["an identifier", { phoneNumber: "+34600000001" }, true],
  ["an identifier with an unknown member", { phoneNumber: "+34600000001", imei: "1" }, true],
  ["members that are not known alone", { imei: "490154203237518" }, false],
  ["nothing", {}, false],
])("the device schema in the OpenAPI document, given %s, %j, accepts it: %s", (_, device, accepted) => {
  expect(schemaFaults("#/components/schemas/Device", device)).toEqual(accepted ? [] : expect.anything());
  if (!accepted) expect(schemaFaults("#/components/schemas/Device", device)).not.toEqual([]);
});

const medias = parts.filter(({ value }) => "schema" in value && "examples" in value);
const shown = medias.flatMap(({ pointer, value: { examples } }) =>
  Object.values(members.parse(examples)).map((one) => ({ pointer, ...exampleAt(one) })),
);

test("every body of the OpenAPI document has examples", () => {
  const bodies = parts.filter(({ pointer }) => /\/content\/[^/]+$/.test(pointer));
  expect(bodies.map(({ pointer }) => pointer)).toEqual(medias.map(({ pointer }) => pointer));
});

test("every example of the OpenAPI document is valid under its schema", () => {
  for (const { pointer, name, value } of shown) {
    expect(schemaFaults(`${pointer}/schema`, value), `${pointer} ${name}`).toEqual([]);
  }
});

test("every example in a named schema of the OpenAPI document is valid under that schema", () => {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const { examples = [] } = z.looseObject({ examples: z.array(z.unknown()).optional() }).parse(schema);
    for (const value of examples)
      expect(schemaFaults(`#/components/schemas/${name}`, value), name).toEqual([]);
  }
});

function partsOf(value: unknown, pointer: string): Part[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([name, one]) =>
    ["example", "examples", "default"].includes(name) ? [] : partsOf(one, `${pointer}/${pointerName(name)}`),
  );
  return Array.isArray(value) ? inner : [{ pointer, value: members.parse(value) }, ...inner];
}

function isDescribed(property: unknown): boolean {
  const { description, $ref } = members.parse(property);
  if (typeof description === "string" && description !== "") return true;
  return typeof $ref === "string" && isDescribed(target($ref));
}

function exampleAt(one: unknown): { readonly name: string; readonly value: unknown } {
  const { $ref } = z.object({ $ref: z.string() }).parse(one);
  return { name: $ref, value: members.parse(target($ref)).value };
}

function target(pointer: string): unknown {
  const names = pointer.split("/").slice(1);
  return names.reduce<unknown>((part, name) => members.parse(part)[name], document);
}
