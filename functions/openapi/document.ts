/** An operation, as far as functions read it. */
interface Operation {
  readonly tags: readonly string[];
  readonly security: readonly object[];
}

/** The components of one kind by their names. */
type Components = Readonly<Record<string, object>>;

/** What functions read or change of the document. */
export interface ServedDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<"securitySchemes" | "schemas" | "examples" | "responses", Components>>;
}

/**
 * The document that `npm run docs` made of the declarations, as it was when the function was bundled. It is read when
 * it is first asked for, so that its size does not slow the start.
 */
export async function servedDocument(): Promise<ServedDocument> {
  const { default: document } = await import("../../docs/openapi.json", { with: { type: "json" } });
  return document;
}

/** Without the schemas, examples and responses that nothing in the document refers to. */
export function withoutUnused(document: ServedDocument): ServedDocument {
  const { schemas, examples, responses } = document.components;
  const text = JSON.stringify(document);
  const used = (kind: string, components: Components) =>
    Object.fromEntries(
      Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
    );
  const components = {
    ...document.components,
    schemas: used("schemas", schemas),
    examples: used("examples", examples),
    responses: used("responses", responses),
  };
  const isLess = JSON.stringify(components).length < JSON.stringify(document.components).length;
  // What only those referred to is unused now.
  return isLess ? withoutUnused({ ...document, components }) : document;
}
