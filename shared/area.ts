import type * as z from "zod/mini";
import type { Endpoint, MediaType } from "./endpoint.ts";
import type { Table } from "./table.ts";

/**
 * The declaration of an area, a folder below `functions/`. Routes, functions, tables, documents and tests are derived
 * from it.
 */
export interface ServiceArea {
  /** The name of the folder, the first part of its endpoints' ids, and their tag in the OpenAPI document. */
  readonly name: string;
  /** What people call it, in title case. */
  readonly title: string;
  /** A sentence about it for the reference. */
  readonly about: string;
  readonly endpoints: readonly Endpoint[];
  /** The scopes of its endpoints, each with a sentence for the reference on what it permits. */
  readonly scopes: Readonly<Record<`${string}:${string}`, string>>;
  /** Schemas of the further media types in its endpoints' `formats`, by `operationId`. */
  readonly formats?: Readonly<Record<string, Readonly<Partial<Record<MediaType, z.ZodMiniType>>>>>;
  /** Its own tables; tables that several areas use are declared in `shared/`. */
  readonly tables: readonly Table[];
}

/** Rejects an endpoint whose id names another area or whose scope is not one of the area's. */
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
