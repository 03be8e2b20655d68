import * as z from "zod";
import type { TemplateDocument } from "./assembly.ts";
import { Intrinsics } from "./intrinsics.ts";
import type { PhysicalNames } from "./physical-names.ts";

/** The resources of a template, with their properties resolved. */
export class Resources {
  readonly #document: TemplateDocument;
  readonly #intrinsics: Intrinsics;

  /** @param refs the values of `Ref`, by logical id, that only the server that created the resource knows. */
  constructor(document: TemplateDocument, refs: ReadonlyMap<string, string>) {
    this.#document = document;
    this.#intrinsics = new Intrinsics(document, refs);
  }

  /** The logical ids of the resources of a type. */
  ofType(type: string): readonly string[] {
    return Object.entries(this.#document.Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([logicalId]) => logicalId);
  }

  /**
   * The properties of a resource, resolved and parsed.
   * @param irrelevant names of properties that have no effect on this machine; they are not read.
   * @throws {Error} naming a property that is neither in the schema nor irrelevant, or that is malformed.
   */
  properties<Schema extends z.ZodObject>(
    logicalId: string,
    schema: Schema,
    irrelevant: readonly string[] = [],
  ): z.output<Schema> {
    const declared = this.#document.Resources[logicalId]?.Properties ?? {};
    const wanted = Object.entries(declared).filter(([name]) => !irrelevant.includes(name));
    for (const [name] of wanted) {
      if (!(name in schema.shape)) throw new Error(`${name} is not supported locally, at ${logicalId}`);
    }
    const parsed = schema.safeParse(this.#intrinsics.resolve(Object.fromEntries(wanted), logicalId));
    if (!parsed.success) throw new Error(`${logicalId} is malformed: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  }

  /** The values of `Ref` and `Fn::GetAtt` for a resource. */
  names(logicalId: string): PhysicalNames {
    return this.#intrinsics.names(logicalId, logicalId);
  }
}
