import * as z from "zod/mini";
import { asks, between, dateTime, described } from "../../shared/schemas.ts";
import { maxPoints, minPoints } from "./query/limits.ts";

const point = z
  .object({
    latitude: described(z.number().check(...between(-90, 90)), "Degrees north of the equator."),
    longitude: described(z.number().check(...between(-180, 180)), "Degrees east of Greenwich."),
  })
  .check(z.meta({ id: "Point", description: "A vertex, in degrees." }));

/** The number of points has a code of its own, which comes before any error of a point. */
const boundary = z.array(point).check(
  z.refine(({ length }) => length >= minPoints && length <= maxPoints, {
    ...asks("POPULATION_DENSITY_DATA.INVALID_AREA"),
    when: ({ value }) => Array.isArray(value),
  }),
  z.meta({ description: "The vertices, one after the other.", minItems: minPoints, maxItems: maxPoints }),
);

const area = z
  .object({
    areaType: z.string().check(
      z.refine((type) => type === "POLYGON", asks("POPULATION_DENSITY_DATA.INVALID_AREA")),
      z.meta({ description: "The only type there is.", enum: ["POLYGON"] }),
    ),
    boundary,
  })
  .check(
    z.meta({
      id: "Area",
      description:
        "A polygon with straight edges in latitude and longitude, in either orientation, without " +
        "crossing or touching itself. The last point need not repeat the first. An edge over more than " +
        "180 degrees of longitude crosses the antimeridian.",
    }),
  );

/** A schema with a name: generators make a member required whose own schema has a default. */
const precision = z._default(z.int().check(...between(1, 12)), 7).check(
  z.meta({
    id: "Precision",
    description: "Length of the cells' geohashes. A deployment may support only some lengths.",
  }),
);

/** The members of a request that say which densities are asked for. */
export const densityQuery = {
  area,
  startTime: dateTime("Start of the period, RFC 3339 with a zone: at most 3 months from now either way."),
  endTime: dateTime("End of the period: at most 7 days later, and on the same side of now."),
  precision,
};

/** A request of area, period and precision, in the demo city. */
export const densityQueryExample = {
  area: {
    areaType: "POLYGON",
    boundary: [
      { latitude: 45.754114, longitude: 4.860374 },
      { latitude: 45.753845, longitude: 4.863185 },
      { latitude: 45.75249, longitude: 4.861876 },
      { latitude: 45.751224, longitude: 4.861125 },
      { latitude: 45.751442, longitude: 4.859827 },
    ],
  },
  startTime: "2026-11-23T11:25:00Z",
  endTime: "2026-11-23T12:45:00Z",
  precision: 6,
};

/** The hours of the example, which cover its period (specification 2.11). */
export const exampleIntervals = [
  { startTime: "2026-11-23T11:00:00Z", endTime: "2026-11-23T12:00:00Z" },
  { startTime: "2026-11-23T12:00:00Z", endTime: "2026-11-23T13:00:00Z" },
] as const;

/** What the demo's data answer to the example, hour by hour; a contract test asks the service. */
export const exampleDensities = [
  [
    { geohash: "u05kq8", pplDensity: 10_472, minPplDensity: 10_168, maxPplDensity: 10_776 },
    { geohash: "u05kq9", pplDensity: 31_296, minPplDensity: 30_560, maxPplDensity: 32_032 },
  ],
  [
    { geohash: "u05kq8", pplDensity: 10_616, minPplDensity: 10_312, maxPplDensity: 10_920 },
    { geohash: "u05kq9", pplDensity: 31_440, minPplDensity: 30_704, maxPplDensity: 32_176 },
  ],
] as const;

/** What is known of a cell in an hour. */
export const dataType = z.enum(["NO_DATA", "LOW_DENSITY", "DENSITY_ESTIMATION"]);

/** What an answer says of all cells. */
export const densityStatus = z
  .enum(["SUPPORTED_AREA", "PART_OF_AREA_NOT_SUPPORTED", "AREA_NOT_SUPPORTED", "OPERATION_NOT_COMPLETED"])
  .check(
    z.meta({
      description: [
        "`SUPPORTED_AREA`: the whole area is covered.",
        "`PART_OF_AREA_NOT_SUPPORTED`: the cells that are not covered are `NO_DATA`.",
        "`AREA_NOT_SUPPORTED`: nothing of the area is covered; there are no data.",
        "`OPERATION_NOT_COMPLETED`: the operation of a sink failed; there are no data.",
      ].join(" "),
    }),
  );
