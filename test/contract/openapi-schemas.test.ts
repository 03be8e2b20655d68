import { describe, expect, it } from "vitest";
import * as z from "zod";
import document from "../../docs/openapi.json" with { type: "json" };
import { type Part, pointerName, schemaFaults } from "../support/document.ts";

const members = z.record(z.string(), z.unknown());

/** Every object of the document but those of examples. */
const parts = partsOf(document, "#");

describe("the schemas of the OpenAPI document", () => {
  it("describe every property, themselves or where they refer to", () => {
    const properties = parts
      .filter(({ pointer }) => /\/properties$/.test(pointer) && !/\/properties\/properties$/.test(pointer))
      .flatMap(({ pointer, value }) => Object.entries(value).map(([name, one]) => ({ pointer, name, one })));
    const bare = properties.filter(({ one }) => !isDescribed(one));

    expect(properties.length).toBeGreaterThan(80);
    expect(bare.map(({ pointer, name }) => `${pointer}/${name}`)).toEqual([]);
  });

  it("have one flat schema of errors, whose status is an integer and whose name is free in every language", () => {
    const { schemas } = document.components;
    expect(schemas.ErrorInfo).toMatchObject({
      type: "object",
      properties: { status: { type: "integer" }, code: { type: "string" }, message: { type: "string" } },
      required: ["status", "code", "message"],
    });
    expect(Object.keys(schemas)).not.toContain("Error");
    expect(parts.filter(({ value }) => "allOf" in value)).toEqual([]);
  });

  it.each([
    ["an identifier", { phoneNumber: "+34600000001" }, true],
    ["an identifier beside a member that is not known", { phoneNumber: "+34600000001", imei: "1" }, true],
    ["members that are not known alone", { imei: "490154203237518" }, false],
    ["nothing", {}, false],
  ])("take a device with %s: %j %s", (_, device, accepted) => {
    expect(schemaFaults("#/components/schemas/Device", device)).toEqual(accepted ? [] : expect.anything());
    if (!accepted) expect(schemaFaults("#/components/schemas/Device", device)).not.toEqual([]);
  });

  it("have a default for the precision, which nobody has to send", () => {
    const { PopulationDensityRequest: request, Precision: precision } = document.components.schemas;
    expect(precision.default).toBe(7);
    expect(request.required).not.toContain("precision");
    // A generator that makes members with a default required finds none here.
    expect(request.properties.precision).toEqual({ $ref: "#/components/schemas/Precision" });
  });
});

describe("the examples of the OpenAPI document", () => {
  const medias = parts.filter(({ value }) => "schema" in value && "examples" in value);
  const shown = medias.flatMap(({ pointer, value: { examples } }) =>
    Object.values(members.parse(examples)).map((one) => ({ pointer, ...exampleAt(one) })),
  );

  it("stand beside every body", () => {
    const bodies = parts.filter(({ pointer }) => /\/content\/[^/]+$/.test(pointer));
    expect(bodies.map(({ pointer }) => pointer)).toEqual(medias.map(({ pointer }) => pointer));
    expect(shown.length).toBeGreaterThan(80);
  });

  it("are valid under the schema they stand beside", () => {
    for (const { pointer, name, value } of shown) {
      expect(schemaFaults(`${pointer}/schema`, value), `${pointer} ${name}`).toEqual([]);
    }
  });

  it("are valid under the named schema they stand in", () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const { examples = [] } = z.looseObject({ examples: z.array(z.unknown()).optional() }).parse(schema);
      for (const value of examples)
        expect(schemaFaults(`#/components/schemas/${name}`, value), name).toEqual([]);
    }
  });

  it("show no device where one identifier was sent", () => {
    const { value } = document.components.examples["retrieveIdentifier.200"];
    expect(Object.keys(document.components.examples["retrieveIdentifier.request"].value.device)).toHaveLength(
      1,
    );
    expect(value).not.toHaveProperty("device");
  });
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
