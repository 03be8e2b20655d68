import * as z from "zod/mini";
import { endpoint } from "../../../shared/endpoint.ts";
import { callerErrors } from "../../../shared/errors.ts";

const whole = (description: string) => z.int().check(z.minimum(1), z.meta({ description }));

const answerLimit = (description: string) =>
  z
    .object({
      slots: whole("Cells × hours."),
      tileDays: whole("Stored tiles of 1,024 cells × days: a long narrow area has few cells in many tiles."),
    })
    .check(z.meta({ description }));

const provenance = z.object({
  source: z.string().check(z.meta({ description: "Who counted, or what the numbers were made from." })),
  licence: z.optional(z.string().check(z.meta({ description: "Such as an SPDX identifier." }))),
});

const importedThreshold = z.object({
  threshold: whole("A cell and hour with fewer people is `LOW_DENSITY`."),
  newestObservedDay: z.optional(
    z.iso.date().check(
      z.meta({
        description:
          "The latest day that was observed with this threshold, UTC; earlier ones may be, later ones are not. " +
          "Absent if only typical weekdays were imported with it.",
      }),
    ),
  ),
});

const fraction = (description: string) =>
  z.number().check(z.minimum(0), z.maximum(1), z.meta({ description }));

const forecastQuality = z.object({
  precision: z.int().check(z.minimum(1), z.maximum(12), z.meta({ description: "Length of the geohashes." })),
  days: whole(
    "Observed days that were compared with the typical weekdays before them, at most the latest 28.",
  ),
  newestObservedDay: z.iso.date().check(z.meta({ description: "The latest of these days, UTC." })),
  weeks: z.int().check(
    z.minimum(0),
    z.meta({
      description:
        "The fewest weeks that any of the typical hours was the mean of; 0: some were not observed, but imported as " +
        "typical.",
    }),
  ),
  wape: z.optional(
    z.number().check(
      z.minimum(0),
      z.meta({
        description:
          "Weighted absolute percentage error, as a fraction: the sum of all differences between `pplDensity` as it was " +
          "answered before and as it was observed, by the sum of what was observed. `LOW_DENSITY` counts as 0. Absent " +
          "if nobody was observed.",
      }),
    ),
  ),
  withinRange: fraction(
    "The share of cells and hours whose observed `pplDensity` was from `minPplDensity` to `maxPplDensity`.",
  ),
  regions: z.optional(
    z.array(z.array(z.number()).check(z.length(4))).check(
      z.meta({
        description:
          "Boxes around the cells that were compared: west, south, east and north, like `bbox` of `coverage`. Of other " +
          "regions the error is not known. Absent if no box was recorded.",
      }),
    ),
  ),
});

const finding = z.object({
  code: z.string().check(
    z.meta({
      description:
        "What is unusual, by published numbers: `HOURS_MISSING`, `LARGEST_CELL_UNUSUAL`, `PEOPLE_UNUSUAL`, `ROWS_EQUAL`, " +
        "`SUPPRESSION_UNUSUAL`, `TILES_EMPTY`. There may be others.",
    }),
  ),
  level: z
    .enum(["critical", "warning"])
    .check(z.meta({ description: "The operator has accepted a critical one before the day was published." })),
  hours: z
    .array(z.int().check(z.minimum(0), z.maximum(23)))
    .check(z.meta({ description: "Hours of the day, UTC, ascending." })),
  description: z.string().check(z.meta({ description: "A sentence with numbers, for people." })),
});

const dayQuality = z.object({
  day: z.iso.date().check(z.meta({ description: "UTC." })),
  hours: z.int().check(z.minimum(0), z.maximum(24), z.meta({ description: "Hours that were counted." })),
  people: z.int().check(
    z.minimum(0),
    z.meta({
      description:
        "The mean over these hours of the people in cells with an estimate: sums of numbers of K and more, before " +
        "they are rounded to densities.",
    }),
  ),
  coveredCells: z
    .int()
    .check(z.minimum(0), z.meta({ description: "Covered cells, of the precision of the counts." })),
  suppressedShare: fraction("The share of these cells that was `LOW_DENSITY`, over all hours."),
  isTypical: z.boolean().check(
    z.meta({
      description: "Whether typical weekdays may be made from it; not if the operator has excluded it.",
    }),
  ),
  findings: z.array(finding).check(z.meta({ description: "Empty for a day like those before." })),
});

const capabilities = z
  .object({
    precisions: z
      .array(z.int().check(z.minimum(1), z.maximum(12)))
      .check(z.meta({ description: "Supported lengths of geohashes, ascending." })),
    area: z
      .object({
        minPoints: whole("Vertices that a polygon has at least."),
        maxPoints: whole("Vertices that a polygon has at most."),
      })
      .check(z.meta({ description: "Limits of a polygon." })),
    period: z
      .object({
        maxHours: whole("The longest period."),
        monthsBack: whole("Calendar months from the earliest startTime to the time of the request."),
        monthsAhead: whole("Calendar months from the time of the request to the latest endTime."),
      })
      .check(z.meta({ description: "Limits of a period." })),
    limits: z
      .object({
        synchronous: answerLimit("The largest answer without a sink."),
        asynchronous: answerLimit("The largest answer to a sink."),
        pendingOperations: whole("Operations of one caller that may be pending at the same time."),
      })
      .check(z.meta({ description: "How much may be asked for." })),
    suppressionThreshold: whole(
      "A cell and hour with fewer people is `LOW_DENSITY`: the smallest threshold of all imports.",
    ),
    suppressionThresholds: z.array(importedThreshold).check(
      z.meta({
        description:
          "Each threshold that densities were imported with, the one of the first import first; more than one " +
          "after it was raised. Typical weekdays may be made with any of them. Empty before the first import.",
      }),
    ),
    coverage: z.optional(
      z
        .object({
          type: z.literal("MultiPolygon").check(z.meta({ description: "Of GeoJSON." })),
          bbox: z.array(z.number()).check(
            z.length(4),
            z.meta({
              description:
                "The box around all cells that were ever covered: west, south, east and north. A west above the east " +
                "is a box across the antimeridian.",
            }),
          ),
          coordinates: z.array(z.array(z.array(z.array(z.number()).check(z.length(2))))).check(
            z.meta({
              description: "Polygons along the edges of cells; longitude first. At most 300 points.",
            }),
          ),
        })
        .check(
          z.meta({
            description:
              "Around all cells that were ever covered (RFC 7946). Nothing else is in it, unless that takes more than " +
              "300 points: then it follows the edges of coarser cells. Absent before the first import.",
          }),
        ),
    ),
    coveredShares: z.optional(
      z
        .array(
          z.object({
            precision: z.int().check(z.minimum(1), z.maximum(12), z.meta({ description: "Of the cells." })),
            coveredShare: z
              .number()
              .check(z.minimum(0), z.maximum(1), z.meta({ description: "Of their area together." })),
          }),
        )
        .check(
          z.meta({
            description:
              "Which share of the cells that have anything covered in them is covered, at each precision up to that " +
              "of the cells whose edges `coverage` follows. At finer ones it is larger.",
          }),
        ),
    ),
    newestObservedDay: z.optional(
      z.iso
        .date()
        .check(z.meta({ description: "The latest day that was observed, UTC. Absent if none was." })),
    ),
    typicalWeek: z
      .object({
        weeks: whole(
          "Maximum number of weeks, the latest observed ones, that a typical hour is the mean of.",
        ),
        timeZone: z
          .string()
          .check(z.meta({ description: "IANA name of the time zone whose weekdays and hours it follows." })),
        holidays: z
          .array(z.iso.date())
          .check(z.meta({ description: "Local dates in the period that count as Sundays, ascending." })),
      })
      .check(
        z.meta({
          description: "What the densities of hours to come are, and of past ones that were not observed.",
        }),
      ),
    forecastQuality: z.array(forecastQuality).check(
      z.meta({
        description:
          "How far typical hours were from what was observed afterwards, in the regions where it was, by precision, the " +
          "finest first. Empty until an observed day was compared.",
      }),
    ),
    quality: z.array(dayQuality).check(
      z.meta({
        description:
          "How the latest observed days are, the latest first, at most 100, at the precision of the counts: more than " +
          "coarser densities tell, and never the people of a cell below K.",
      }),
    ),
    provenance: z
      .array(provenance)
      .check(
        z.meta({ description: "Where the numbers come from, as far as it is known; the latest first." }),
      ),
  })
  .check(
    z.meta({
      id: "PopulationDensityCapabilities",
      description: "What can be asked for, and what the densities are made from.",
      examples: [
        {
          precisions: [3, 4, 5, 6, 7],
          area: { minPoints: 3, maxPoints: 15 },
          period: {
            maxHours: 168,
            monthsBack: 3,
            monthsAhead: 3,
          },
          limits: {
            synchronous: { slots: 40_000, tileDays: 600 },
            asynchronous: { slots: 2_000_000, tileDays: 2_600 },
            pendingOperations: 20,
          },
          suppressionThreshold: 10,
          suppressionThresholds: [
            { threshold: 10, newestObservedDay: "2026-11-14" },
            { threshold: 20, newestObservedDay: "2026-11-21" },
          ],
          coverage: {
            type: "MultiPolygon",
            bbox: [4.74609375, 45.703125, 5.09765625, 45.87890625],
            coordinates: [
              [
                [
                  [4.74609375, 45.703125],
                  [5.09765625, 45.703125],
                  [5.09765625, 45.87890625],
                  [4.74609375, 45.87890625],
                  [4.74609375, 45.703125],
                ],
              ],
            ],
          },
          coveredShares: [
            { precision: 3, coveredShare: 0.03125 },
            { precision: 4, coveredShare: 1 },
          ],
          newestObservedDay: "2026-11-21",
          typicalWeek: { weeks: 4, timeZone: "Europe/Paris", holidays: ["2026-12-25", "2027-01-01"] },
          forecastQuality: [
            {
              precision: 7,
              days: 28,
              newestObservedDay: "2026-11-21",
              weeks: 3,
              wape: 0.1843,
              withinRange: 0.7629,
              regions: [[4.74609375, 45.703125, 5.09765625, 45.87890625]],
            },
          ],
          quality: [
            {
              day: "2026-11-21",
              hours: 24,
              people: 412_340,
              coveredCells: 36_517,
              suppressedShare: 0.2113,
              isTypical: true,
              findings: [
                {
                  code: "PEOPLE_UNUSUAL",
                  level: "warning",
                  hours: [7],
                  description:
                    "08:00–09:00 Europe/Paris: 31 % fewer people than on the last four Saturdays (298 k, usual 344–519 k)",
                },
              ],
            },
          ],
          provenance: [{ source: "Counts of the network's devices", licence: "CC-BY-4.0" }],
        },
      ],
    }),
  );

/** `GET /populationdensitydata/capabilities` (behaviour section 7). */
export const retrieveCapabilities = endpoint({
  id: "population-density/capabilities",
  operationId: "retrieveDensityCapabilities",
  summary: "Read what densities can be asked for",
  description:
    "What population densities can be asked for: precisions, limits, the time window, the suppression " +
    "threshold, and coverage, newest day, source and licence of the data.",
  method: "GET",
  path: "/populationdensitydata/capabilities",
  aliases: ["/population-density-data/v0.3/capabilities"],
  scope: "population-density-data:read",
  responses: { 200: capabilities },
  errors: callerErrors,
});
