import * as z from "zod/mini";
import { endpoint } from "../../shared/endpoint.ts";
import { described } from "../../shared/schemas.ts";
import { completeSinkCredential, idempotencyKey, sink, sinkCredential } from "../../shared/sink-schemas.ts";
import {
  dataType,
  densityQuery,
  densityQueryExample,
  densityStatus,
  exampleDensities,
  exampleIntervals,
} from "./density-schemas.ts";
import { summary, summaryRequest } from "./summary-schemas.ts";

const retrieval = z
  .object({
    ...densityQuery,
    sink: z.optional(sink),
    sinkCredential: z.optional(sinkCredential),
  })
  .check(
    z.meta({
      id: "PopulationDensityRequest",
      description: "Which area, when, and how finely.",
      examples: [densityQueryExample],
    }),
  );

const release = "population-density-data 0.3.0";

const releasedRetrieval = z
  .object({ ...retrieval.shape, sinkCredential: z.optional(completeSinkCredential(release)) })
  .check(
    z.meta({
      id: "PopulationDensityRequestV03",
      "x-camara-release": release,
      description: "Which area, when, and how finely, as CAMARA's release has it.",
      examples: [densityQueryExample],
    }),
  );

const density = z.int().check(z.minimum(0));

const cell = z
  .object({
    geohash: described(
      z.string().check(z.regex(/^[0-9b-hjkmnp-z]{1,12}$/)),
      "The cell; as many characters as the precision says.",
    ),
    dataType: dataType.check(
      z.meta({
        description: [
          "`NO_DATA`: the cell is not covered, or has no data for the hour.",
          "`LOW_DENSITY`: a cell of the finest counted precision has fewer people than the suppression threshold; of a",
          "coarser one, all cells in it have, and together they may have more (six of 9 people are 54 with a threshold",
          "of 10). No numbers are published.",
          "`DENSITY_ESTIMATION`: the three numbers follow.",
        ].join(" "),
      }),
    ),
    pplDensity: z.optional(
      density.check(
        z.meta({ description: "The people who were counted in the cell, per km² of the whole cell." }),
      ),
    ),
    minPplDensity: z.optional(
      density.check(z.meta({ description: "Lower end of the range, per km² of the whole cell." })),
    ),
    maxPplDensity: z.optional(
      density.check(
        z.meta({ description: "Upper end of the range, per km² of the covered part of the cell." }),
      ),
    ),
  })
  .check(
    z.meta({
      id: "CellPopulationDensity",
      description:
        "The density in one cell. Numbers are rounded to 12 significant binary digits, and the distances of the ends of " +
        "the range to five, outwards: of 4,000 people, counted as 3,200 to 4,800 in a cell of 0.01631 km², " +
        "245,248 are published with 196,096 to 297,984 per km², which are 3,198 to 4,860 people.",
    }),
  );

const timedPopulationDensity = z
  .object({
    startTime: z.iso.datetime().check(z.meta({ description: "Start of the hour, UTC." })),
    endTime: z.iso.datetime().check(z.meta({ description: "End of the hour, UTC." })),
    cellPopulationDensityData: z
      .array(cell)
      .check(z.meta({ description: "The same cells in every interval, in the order of their geohashes." })),
  })
  .check(z.meta({ id: "TimedPopulationDensity", description: "The densities in one hour." }));

const densityMembers = {
  status: densityStatus,
  timedPopulationDensityData: described(
    z.array(timedPopulationDensity),
    "The hours that cover the period, one after the other.",
  ),
  statusInfo: described(z.optional(z.string()), "Why the operation failed; with `OPERATION_NOT_COMPLETED`."),
};

const populationDensity = z.object(densityMembers).check(
  z.meta({
    id: "PopulationDensity",
    description: "The densities of the cells that share area with the polygon, hour by hour.",
    examples: [
      {
        status: "SUPPORTED_AREA",
        timedPopulationDensityData: exampleIntervals.map((interval, hour) => ({
          ...interval,
          cellPopulationDensityData: exampleDensities[hour]?.map(({ geohash, ...densities }) => ({
            geohash,
            dataType: "DENSITY_ESTIMATION",
            ...densities,
          })),
        })),
      },
    ],
  }),
);

const delivery = z
  .object({
    ...densityMembers,
    operationId: described(z.uuid(), "Of the operation: as in the response 202, the same in every attempt."),
  })
  .check(
    z.meta({
      id: "PopulationDensityDelivery",
      description: "The densities of an operation, or `OPERATION_NOT_COMPLETED` and why.",
      examples: [
        {
          operationId: "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34",
          status: "OPERATION_NOT_COMPLETED",
          statusInfo: "The densities could not be computed. Send the request again.",
          timedPopulationDensityData: [],
        },
      ],
    }),
  );

/** Sent by `delivery/send.ts`. */
const deliveryHeaders = {
  "x-correlator": z.string().check(z.meta({ description: "That of the request for the operation." })),
  "x-density-basis": z.optional(
    z
      .string()
      .check(z.meta({ description: "As of the response 200; absent with `OPERATION_NOT_COMPLETED`." })),
  ),
  "webhook-id": z.uuid().check(z.meta({ description: "The operation, by which duplicates are recognised." })),
  "webhook-timestamp": z
    .string()
    .check(z.regex(/^[0-9]+$/), z.meta({ description: "When the attempt was made, in seconds since 1970." })),
  "webhook-signature": z.optional(
    z.string().check(
      z.regex(/^v1,[A-Za-z0-9+/]{43}=(?: v1,[A-Za-z0-9+/]{43}=)?$/),
      z.meta({
        description:
          "Signatures of Standard Webhooks, one for each of the caller's webhook secrets; absent without one.",
      }),
    ),
  ),
  "content-digest": z.optional(
    z
      .string()
      .check(
        z.regex(/^sha-256=:[A-Za-z0-9+/]{43}=:$/),
        z.meta({ description: "Digest of the body (RFC 9530), with a `webhook-signature`." }),
      ),
  ),
};

const acceptedOperation = z
  .object({
    operationId: z
      .uuid()
      .check(z.meta({ description: "Comes back with the answer, in the body and as `webhook-id`." })),
  })
  .check(
    z.meta({
      id: "AcceptedOperation",
      description: "The answer will be delivered to the sink.",
      examples: [{ operationId: "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34" }],
    }),
  );

/** Headers of every answer at once, in any format. */
const answerHeaders = {
  "x-area-status": "The `status` of the answer, in every format.",
  "x-density-basis":
    "What the intervals are made from, in their order: a list (RFC 9651) such as `OBSERVED;hours=20, " +
    "TYPICAL;hours=4`. `OBSERVED`: counted in these hours. `TYPICAL`: of a typical weekday. `MIXED`: some cells " +
    "are the one and some the other. `NONE`: nothing is stored.",
};

/** `POST /populationdensitydata/retrieve` (specification 4.4 and 7.3, behaviour section 7). */
export const retrievePopulationDensity = endpoint({
  id: "population-density/retrieve",
  operationId: "retrievePopulationDensity",
  durationMetric: "DensityMilliseconds",
  summary: "Retrieve population density",
  description:
    "How many people are, were or will be in an area, as a density with its range for each cell of a " +
    "grid and each hour.",
  method: "POST",
  path: "/populationdensitydata/retrieve",
  aliases: ["/population-density-data/v0.3/retrieve"],
  release: {
    name: release,
    differences:
      "A `sinkCredential` without `accessToken`, `accessTokenExpiresUtc` or `accessTokenType` is 400 `INVALID_ARGUMENT`.",
    body: releasedRetrieval,
  },
  scope: "population-density-data:read",
  query: {
    geometry: z.optional(
      z.enum(["POINT", "WKT"]).check(
        z.meta({
          description:
            "With `text/csv`: first columns that say where the cell is. `POINT`: `latitude` and `longitude` of its " +
            "centre. `WKT`: `wkt`, its rectangle, longitude first. Other formats ignore it.",
        }),
      ),
    ),
    featuresPer: z.optional(
      z.enum(["CELL", "HOUR"]).check(
        z.meta({
          default: "CELL",
          description:
            "With `application/geo+json`: what a feature is. `CELL`: a cell, with arrays over the hours. `HOUR`: a cell " +
            "in an hour, with plain numbers and its times, which programs can filter by. Other formats ignore it.",
        }),
      ),
    ),
  },
  requestHeaders: { "Idempotency-Key": idempotencyKey },
  body: retrieval,
  callback: {
    name: "deliverPopulationDensity",
    summary: "Deliver population density",
    description:
      "The answer to a request with a sink, at least once: attempts are repeated for a day at most, " +
      "and have the same `operationId`.",
    url: "{$request.body#/sink}",
    headers: deliveryHeaders,
    token: "The `accessToken` of the request's `sinkCredential`; no header without one.",
    body: delivery,
    answers: {
      "2XX": "Delivered: the operation has ended.",
      "408": "Not taken: tried again.",
      "429": "Not taken: tried again, not before `Retry-After`.",
      "4XX": "Refused, as any 3XX: the operation has ended.",
      "5XX": "Not taken: tried again, not before `Retry-After`.",
    },
  },
  responses: { 200: populationDensity, 202: acceptedOperation },
  formats: { 200: ["application/geo+json", "text/csv", "application/x-ndjson"] },
  links: {
    202: {
      operation: {
        operationId: "getDensityOperation",
        description: "What has become of the operation.",
        parameters: { operationId: "$response.body#/operationId" },
      },
    },
  },
  replyHeaders: {
    200: answerHeaders,
    202: { location: "Where the operation can be followed." },
  },
  streamed: true,
  errors: [
    "INVALID_ARGUMENT",
    "INVALID_CREDENTIAL",
    "INVALID_TOKEN",
    "INVALID_SINK",
    "POPULATION_DENSITY_DATA.INVALID_AREA",
    "POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED",
    "POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED",
    "POPULATION_DENSITY_DATA.INVALID_END_TIME",
    "POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED",
    "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "NOT_FOUND",
    "NOT_ACCEPTABLE",
    "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
    "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION",
    "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE",
    "QUOTA_EXCEEDED",
    "TOO_MANY_REQUESTS",
  ],
});

/** `POST /populationdensitydata/summary` (docs/formats.md). */
export const summarizePopulationDensity = endpoint({
  id: "population-density/summarize",
  operationId: "summarizePopulationDensity",
  durationMetric: "DensityMilliseconds",
  summary: "Summarize population density",
  description:
    "Totals of an area for each hour: people, the densest cell, and the cells and area of each " +
    "class of ground risk; and the quietest and the busiest hour. Made from the numbers that the same request for " +
    "densities is answered with, and nothing else.",
  method: "POST",
  path: "/populationdensitydata/summary",
  aliases: ["/population-density-data/v0.3/summary"],
  scope: "population-density-data:read",
  body: summaryRequest,
  responses: { 200: summary },
  formats: { 200: ["text/csv"] },
  replyHeaders: { 200: answerHeaders },
  streamed: true,
  errors: [
    "INVALID_ARGUMENT",
    "POPULATION_DENSITY_DATA.INVALID_AREA",
    "POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED",
    "POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED",
    "POPULATION_DENSITY_DATA.INVALID_END_TIME",
    "POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED",
    "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "NOT_ACCEPTABLE",
    "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
    "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION",
    "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE",
    "QUOTA_EXCEEDED",
    "TOO_MANY_REQUESTS",
  ],
});
