/** A reference to a component of the document. */
export function reference(
  kind: "schemas" | "responses" | "parameters" | "headers" | "examples",
  name: string,
): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}
