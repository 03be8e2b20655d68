import { expect, test } from "vitest";
import * as z from "zod";
import { documentedAreas } from "../../functions/areas.ts";
import { profileArea } from "../../functions/profile/area.ts";
import { authenticate } from "../../functions/profile/contract.ts";
import packageJson from "../../package.json" with { type: "json" };
import type { ServiceArea } from "../../shared/area.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { canonicalDocument, openApiDocument } from "../../tools/docs/openapi.ts";

// `npm run docs -- --check` holds that `docs/openapi.json` is the document that is made of the declarations.

const areas: readonly ServiceArea[] = documentedAreas;
const declarations = areas.flatMap(({ endpoints }) => endpoints);
const document = openApiDocument(areas, packageJson.version);

test("the OpenAPI document without aliases differs in nothing else", () => {
  const canonical = canonicalDocument(areas, packageJson.version);
  const declared = new Set<string>(declarations.map(({ path }) => path));
  const kept = Object.entries(document.paths ?? {}).filter(([path]) => declared.has(path));
  // Schemas of releases are of aliases alone.
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(
    ([name]) => name in (canonical.components?.schemas ?? {}),
  );
  expect(canonical).toEqual({
    ...document,
    paths: Object.fromEntries(kept),
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  });
});

test("the OpenAPI document gives every component schema a name of its own", () => {
  const names = Object.keys(document.components?.schemas ?? {});
  expect(names.filter((name) => /^__schema|Output$/.test(name))).toEqual([]);
});

test("the OpenAPI document lets generators name: no `enum class`, no value twice by case, no parameter like a schema", () => {
  const { schemas = {}, parameters = {} } = document.components ?? {};
  const enums: { name: string; values: string[] }[] = [];
  JSON.stringify(schemas, (name, value) => {
    if (Array.isArray(value?.enum)) enums.push({ name, values: value.enum.map(String) });
    return value;
  });
  expect(enums.length).toBeGreaterThan(5);
  for (const { name, values } of enums) {
    expect(name).not.toBe("class");
    expect(new Set(values.map((value) => value.toUpperCase())).size, values.join()).toBe(values.length);
  }
  expect(Object.keys(parameters).filter((name) => name in schemas)).toEqual([]);
});

test("the OpenAPI document has an example for each parameter of a path", () => {
  // Parameters of paths are never shared, so none is a reference.
  const parameter = z.looseObject({ in: z.string().optional(), example: z.unknown().optional() });
  const operations = z
    .record(z.string(), z.record(z.string(), z.looseObject({ parameters: z.array(parameter) })))
    .parse(document.paths);

  const parameters = Object.values(operations)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => operation.parameters.filter((one) => one.in === "path"));

  expect(parameters.length).toBeGreaterThan(0);
  for (const one of parameters) expect(one).toMatchObject({ example: expect.any(String) });
});

test("the OpenAPI document closes no object to further members", () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
});

test("the OpenAPI document cannot be made of a response without an example", () => {
  const bare: Endpoint = { ...authenticate, responses: { 200: z.object({}) } };
  expect(() => openApiDocument([{ ...profileArea, endpoints: [bare] }], "1.0.0")).toThrow(
    `the response 200 of ${bare.id} has no example`,
  );
});
