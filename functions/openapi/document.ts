/**
 * The document that `npm run docs` made of the declarations, as it was when the function was bundled. It is read when
 * it is first asked for, so that a start takes as long whatever its size.
 */
export async function servedDocument() {
  const { default: document } = await import("../../docs/openapi.json", { with: { type: "json" } });
  return document;
}
