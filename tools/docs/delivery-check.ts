import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { build } from "esbuild";
import type { oas31 } from "zod-openapi";

const annotations = ["description", "examples"];

/** Formats that say no more than their pattern. */
const formats = { "date-time": true, uuid: true } as const;

/**
 * The text of `client/is-delivery.ts`, which tells whether a value has the schema of what a sink receives. It is
 * compiled ahead of time: some places where receivers run compile nothing, and a delivery has millions of cells at
 * most.
 * @throws {Error} when the document has no such schema.
 */
export async function deliveryCheck({ components }: oas31.OpenAPIObject): Promise<string> {
  const ajv = new Ajv2020({ code: { source: true, esm: true }, messages: false, formats, strict: true });
  ajv.addVocabulary(["components"]).addSchema({ components: withoutAnnotations(components) }, "document");
  const check = ajv.compile({ $ref: "document#/components/schemas/PopulationDensityDelivery" });
  const { outputFiles } = await build({
    // The check is the default export, and exported once more by this name.
    stdin: {
      contents: standalone.default(ajv, check).replace("export const validate =", "const validate ="),
    },
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "esm",
    write: false,
  });
  return [
    "// Made of the OpenAPI document without aliases by `npm run docs`: the schema PopulationDensityDelivery, compiled.",
    "// @ts-nocheck",
    ...outputFiles.map(({ text }) => text),
  ].join("\n");
}

/** What is valid is all that counts, so that a change of words changes no code. */
function withoutAnnotations(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAnnotations);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]) => {
    return !(annotations.includes(name) && (typeof member === "string" || Array.isArray(member)));
  });
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutAnnotations(member)]));
}
