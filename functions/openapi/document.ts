/**
 * The document that `npm run docs` made of the declarations, as it was when the function was bundled. It is read when
 * it is first asked for, so that its size does not slow the start.
 */
export async function servedDocument() {
  const { default: document } = await import("../../docs/openapi.json", { with: { type: "json" } });
  return document;
}
