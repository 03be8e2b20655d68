import * as z from "zod/mini";
import { described } from "../../shared/schemas.ts";
import {
  densityQuery,
  densityQueryExample,
  densityStatus,
  exampleDensities,
  exampleIntervals,
} from "./density-schemas.ts";
import { groundRiskClasses } from "./summary/ground-risk.ts";

/** The body of a request for a summary: that of a request for densities without a sink. */
export const summaryRequest = z
  .object({
    ...densityQuery,
    sink: described(
      z.optional(z.never("must not be sent: a summary is answered at once")),
      "Refused: a summary is answered at once.",
    ),
  })
  .check(
    z.meta({
      id: "PopulationDensitySummaryRequest",
      description: "Which area, when, and how finely.",
      examples: [densityQueryExample],
    }),
  );

const time = (description: string) => z.iso.datetime().check(z.meta({ description }));
const whole = (description: string) => z.int().check(z.minimum(0), z.meta({ description }));

const hourOfPeople = z.object({
  startTime: time("Start of the hour, UTC."),
  endTime: time("End of the hour, UTC."),
  people: whole("People in it."),
});

const densestCell = z.object({
  geohash: described(z.string().check(z.regex(/^[0-9b-hjkmnp-z]{1,12}$/)), "The cell."),
  pplDensity: whole("People per km²."),
  minPplDensity: whole("Lower end of the range."),
  maxPplDensity: whole("Upper end of the range."),
});

/** Has a name of its own, as generators of clients name an enum without one by its member: `enum class` is no code. */
const groundRiskBand = z.enum(groundRiskClasses).check(
  z.meta({
    id: "GroundRiskBand",
    description: [
      "`BELOW_5` to `BELOW_50000`: `maxPplDensity` is below so many people per km², and not below the class before;",
      "`FROM_50000`: it is that or more. These are the bands of Table 2 of JARUS SORA 2.5, less ground that is",
      "controlled. `LOW_DENSITY` and `NO_DATA`: cells without an estimate.",
    ].join(" "),
  }),
);

const groundRiskClass = z
  .object({
    class: groundRiskBand,
    cells: whole("How many cells."),
    areaKm2: described(z.number().check(z.minimum(0)), "Their area on the WGS 84 ellipsoid, in km²."),
  })
  .check(z.meta({ id: "GroundRiskClass", description: "The cells of a class of ground risk." }));

const hourSummary = z
  .object({
    startTime: time("Start of the hour, UTC."),
    endTime: time("End of the hour, UTC."),
    people: z.optional(
      whole(
        "People in the cells that have an estimate: the sum of density × area. Those in `LOW_DENSITY` cells are not " +
          "counted. Absent without an estimate.",
      ),
    ),
    minPeople: z.optional(whole("Sum of the lower ends of the ranges × area.")),
    maxPeople: z.optional(whole("Sum of the upper ends of the ranges × covered area.")),
    densestCell: described(
      z.optional(densestCell),
      "The cell with the greatest density, the first of equals. Absent without an estimate.",
    ),
    groundRisk: described(z.array(groundRiskClass), "Every class, those without a cell too."),
  })
  .check(z.meta({ id: "HourSummary", description: "Totals of one hour." }));

const emptyClass = (name: (typeof groundRiskClasses)[number]) => ({ class: name, cells: 0, areaKm2: 0 });

/** The body of a summary. */
export const summary = z
  .object({
    status: densityStatus,
    quietestHour: described(
      z.optional(hourOfPeople),
      "The hour with the fewest people, the first of equals. Absent without an estimate.",
    ),
    busiestHour: described(
      z.optional(hourOfPeople),
      "The hour with the most people, the first of equals. Absent without an estimate.",
    ),
    intervals: described(z.array(hourSummary), "The hours that cover the period, one after the other."),
  })
  .check(
    z.meta({
      id: "PopulationDensitySummary",
      description: "Totals of an area, hour by hour.",
      examples: [
        {
          status: "SUPPORTED_AREA",
          quietestHour: { ...exampleIntervals[0], people: 21_799 },
          busiestHour: { ...exampleIntervals[1], people: 21_949 },
          intervals: [
            { ...exampleIntervals[0], people: 21_799, minPeople: 21_255, maxPeople: 22_342 },
            { ...exampleIntervals[1], people: 21_949, minPeople: 21_406, maxPeople: 22_492 },
          ].map((hour, index) => ({
            ...hour,
            densestCell: exampleDensities[index]?.[1],
            groundRisk: groundRiskClasses.map((name) =>
              name === "BELOW_50000" ? { class: name, cells: 2, areaKm2: 1.04382 } : emptyClass(name),
            ),
          })),
        },
      ],
    }),
  );
