/** What the base map draws and names (`tools/console/places.ts` makes the features). */
export interface PlaceProperties {
  /** `overview`: a city that is named only until its parts are. */
  readonly kind:
    | "country"
    | "city"
    | "overview"
    | "commune"
    | "quarter"
    | "station"
    | "river"
    | "park"
    | "open";
  readonly name: string;
  /** Of a city in the world's overview, as `City` has them; its other names with commas between them. */
  readonly region?: string;
  readonly otherNames?: string;
  /** Inhabitants of a city. */
  readonly people?: number;
  /** Area of a country, in square degrees at the equator. */
  readonly size?: number;
  /** Width of a river, in pixels at zoom 20. */
  readonly width?: number;
}

/** What the base map draws of the world (`tools/console/outlines.ts` makes the features). */
export interface OutlineProperties {
  readonly kind: "land" | "border";
}
