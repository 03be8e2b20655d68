import type * as z from "zod/mini";
import type { Endpoint, MediaType } from "./endpoint.ts";
import type { Table } from "./table.ts";

/** What a folder below `functions/` declares: routes, functions, tables, documents and tests are made from it. */
export interface ServiceArea {
  /** The folder, the first part of its endpoints' ids, and their tag in the OpenAPI document. */
  readonly name: string;
  /** What it is about, in a sentence for the reference. */
  readonly about: string;
  readonly endpoints: readonly Endpoint[];
  /** The scopes of its endpoints, with what each permits in a sentence for the reference. */
  readonly scopes: Readonly<Record<`${string}:${string}`, string>>;
  /** The bodies of its endpoints' `formats`, by media type. */
  readonly formats?: Readonly<Partial<Record<MediaType, z.ZodMiniType>>>;
  /** Those that are its own; what several areas use is declared in `shared/`. */
  readonly tables: readonly Table[];
}

/** Refuses an endpoint whose id names another area, and one whose scope is not among the area's. */
interface Checked<A extends ServiceArea> {
  readonly endpoints: readonly {
    readonly id: `${A["name"]}/${string}`;
    readonly scope: keyof A["scopes"] | null;
  }[];
}

/** Declares an area. `functions/areas.ts` lists it. */
export function area<const A extends ServiceArea>(declaration: A & Checked<A>): A {
  return declaration;
}
