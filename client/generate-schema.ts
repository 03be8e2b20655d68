import openapiTypeScript, { astToString } from "openapi-typescript";

/**
 * Generates `schema.d.ts`, the types of an OpenAPI document. It is generated here rather than with the other documents
 * because the generator needs its own version of TypeScript.
 */
export async function schemaTypes(document: object): Promise<string> {
  const types = await openapiTypeScript(JSON.stringify(document), {
    immutable: true,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  });
  return `// Made of the OpenAPI document without aliases by \`npm run docs\`.\n\n${astToString(types)}`;
}
