import type { Endpoint } from "./endpoint.ts";
import type { Table } from "./table.ts";

/** What a folder below `functions/` declares: routes, functions, tables, documents and tests are made from it. */
export interface Area {
  /** The folder, the first part of its endpoints' ids, and their tag in the OpenAPI document. */
  readonly name: string;
  /** What it is about, in a sentence for the reference. */
  readonly about: string;
  readonly endpoints: readonly Endpoint[];
  /** Those that are its own; what several areas use is declared in `shared/`. */
  readonly tables: readonly Table[];
}

/** Refuses an endpoint whose id names another area. */
interface Checked<A extends Area> {
  readonly endpoints: readonly { readonly id: `${A["name"]}/${string}` }[];
}

/** Declares an area. `functions/areas.ts` lists it. */
export function area<const A extends Area>(declaration: A & Checked<A>): A {
  return declaration;
}
