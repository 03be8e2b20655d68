import type { SecuredDocument } from "./client-scheme.ts";

/** What functions read or change of the document. */
export interface ServedDocument extends SecuredDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description?: string }[];
  readonly components: SecuredDocument["components"] & {
    readonly schemas: Readonly<Record<string, object>>;
  };
}

/**
 * The document that `npm run docs` made of the declarations, as it was when the function was bundled. It is read when
 * it is first asked for, so that its size does not slow the start.
 */
export async function servedDocument(): Promise<ServedDocument> {
  const { default: document } = await import("../../docs/openapi.json", { with: { type: "json" } });
  return document;
}
