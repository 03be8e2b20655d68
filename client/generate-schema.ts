import openapiTypeScript, { astToString } from "openapi-typescript";

/**
 * The text of `schema.d.ts`: types made of an OpenAPI document. It is made here, and not where other documents are
 * made, because the generator needs a TypeScript of its own.
 */
export async function schemaTypes(document: object): Promise<string> {
  const types = await openapiTypeScript(JSON.stringify(document), {
    immutable: true,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  return `// Made of docs/openapi-canonical.json by \`npm run docs\`.\n\n${astToString(types)}`;
}
