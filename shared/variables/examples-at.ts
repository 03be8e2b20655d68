import type { Format } from "./format.ts";

/**
 * Where the requests of the document's examples ask and the page's map begins, its latitude and its longitude; empty
 * where they stay as they are written. Only a local run sets it.
 */
export const EXAMPLES_AT = {
  name: "EXAMPLES_AT",
  format: (): Format<readonly number[]> => ({
    read: (text) =>
      text === "" ? [] : /^-?[\d.]+,-?[\d.]+$/.test(text) ? text.split(",").map(Number) : undefined,
    must: "be empty or a latitude and a longitude with a comma between them",
  }),
};
