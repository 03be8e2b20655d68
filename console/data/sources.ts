/** Whose the numbers and the ground are, in sentences. */
import type { Capabilities } from "./capabilities.ts";

/** A sentence for each source of the numbers, and one for the ground. @param ground as the page credits it */
export function sourceSentences(provenance: Capabilities["provenance"], ground: string): string[] {
  const credits = ground.trim().replace(/^Base map: /, "");
  return [
    ...provenance.map(({ source, licence }) => {
      const of = licence === undefined ? "" : `, under the licence ${licence}`;
      return `The numbers are from “${source}”${of}.`;
    }),
    ...(credits === "" ? [] : [`The ground is drawn from ${credits}.`]),
  ];
}
