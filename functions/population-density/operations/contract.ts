import * as z from "zod/mini";
import { endpoint } from "../../../shared/endpoint.ts";
import { callerErrors } from "../../../shared/errors.ts";
import { described } from "../../../shared/schemas.ts";
import { idempotencyKey, sink, sinkCredential } from "../../../shared/sink-schemas.ts";

/** All that callers are told of why an operation failed, by what its job has. */
export const failureReasons = {
  "not computed": "NOT_COMPUTED",
  "attempts exhausted": "ATTEMPTS_EXHAUSTED",
  "time over": "TIME_OVER",
  "token expired": "TOKEN_EXPIRED",
  "possibly delivered": "POSSIBLY_DELIVERED",
} as const;

const states = ["PENDING", "DELIVERED", "REFUSED", "FAILED", "CANCELLED"] as const;

const operationId = z
  .uuid("must be a UUID")
  .check(
    z.meta({ description: "The id that 202 gave.", examples: ["7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34"] }),
  );
const time = (description: string) => z.iso.datetime().check(z.meta({ description }));

const lastAttempt = z
  .object({
    at: time("When it began."),
    outcome: z.optional(z.enum(["DELIVERED", "REFUSED", "FAILED", "NOT_COMPUTED"])).check(
      z.meta({
        description:
          "What became of it. Absent while it is under way. `FAILED`: the sink did not answer, or with " +
          "408, 429 or 5xx. `NOT_COMPUTED`: nothing was sent.",
      }),
    ),
    httpStatus: z.optional(z.int().check(z.meta({ description: "The status that the sink answered with." }))),
  })
  .check(z.meta({ id: "DeliveryAttempt", description: "One attempt to deliver." }));

const operationExample = {
  operationId: "7a1f4c0e-3b52-4d6f-9a57-0b8d2f6c1e34",
  state: "PENDING",
  requestedAt: "2026-11-22T10:00:00.000Z",
  expiresAt: "2026-11-23T10:00:00.000Z",
  cells: 9,
  intervals: 2,
  attempts: 1,
  lastAttempt: { at: "2026-11-22T10:00:00.200Z", outcome: "FAILED", httpStatus: 503 },
  nextAttemptAt: "2026-11-22T10:00:02.300Z",
  possiblyDelivered: false,
} as const;

const operation = z
  .object({
    operationId,
    state: z.enum(states).check(
      z.meta({
        description: [
          "`PENDING`: it has no outcome yet.",
          "`DELIVERED`: the sink answered 2xx to the whole answer.",
          "`REFUSED`: the sink refused the answer for good.",
          "`FAILED`: the sink was sent a failure, or could be sent nothing any more; `failureReason` says why.",
          "`CANCELLED`: by its caller.",
        ].join(" "),
      }),
    ),
    requestedAt: time("When it was requested."),
    expiresAt: time("When it has an outcome at the latest, and is forgotten: a day after the request."),
    cells: z.int().check(z.meta({ description: "Cells of the answer in each interval." })),
    intervals: z.int().check(z.meta({ description: "Hours of the answer." })),
    attempts: z.int().check(z.meta({ description: "Attempts that have begun." })),
    lastAttempt: z.optional(lastAttempt),
    nextAttemptAt: z.optional(time("When the next attempt is due, after one that failed.")),
    possiblyDelivered: z.boolean().check(
      z.meta({
        description:
          "Whether it is open if the sink holds the whole body, because it was sent and not answered: " +
          "of an operation that is pending, cancelled or failed. `false` of one that is delivered or " +
          "refused, where the sink has said so.",
      }),
    ),
    failureReason: z.optional(
      z.enum(failureReasons).check(
        z.meta({
          description: [
            "Why the sink did not get the answer; only with `FAILED`.",
            "`NOT_COMPUTED`: it could not be computed.",
            "`ATTEMPTS_EXHAUSTED`: the sink took it at no attempt.",
            "`TIME_OVER`: its day was over, or nearly.",
            "`TOKEN_EXPIRED`: the access token had expired, so nothing more was sent.",
            "`POSSIBLY_DELIVERED`: it was sent, and the sink did not say whether it has it.",
          ].join(" "),
        }),
      ),
    ),
  })
  .check(
    z.meta({
      id: "Operation",
      description: "A request with a sink, without its area, its sink and its credential.",
      examples: [operationExample],
    }),
  );

/** An operation as its caller sees it. */
export type Operation = z.input<typeof operation>;

const operationList = z
  .object({
    operations: described(z.array(operation), "Those of this page."),
    nextPageToken: z.optional(
      z.string().check(z.meta({ description: "The `pageToken` of the next page; absent on the last." })),
    ),
  })
  .check(
    z.meta({
      id: "OperationList",
      description: "The caller's operations of the last day, the newest first.",
      examples: [{ operations: [operationExample] }],
    }),
  );

const scope = "population-density-data:read";
const family = "/populationdensitydata/operations";
const aliasFamily = "/population-density-data/v0.3/operations";

/** `GET /populationdensitydata/operations/{operationId}` (docs/deliveries.md). */
export const readOperation = endpoint({
  id: "population-density/read-operation",
  operationId: "getDensityOperation",
  summary: "Get a density operation",
  description: "What has become of an operation, which is a request for population density with a sink.",
  method: "GET",
  path: `${family}/{operationId}`,
  aliases: [`${aliasFamily}/{operationId}`],
  scope,
  parameters: { operationId },
  responses: { 200: operation },
  errors: [...callerErrors, "NOT_FOUND"],
});

/** `GET /populationdensitydata/operations` (docs/deliveries.md). */
export const listOperations = endpoint({
  id: "population-density/list-operations",
  operationId: "listDensityOperations",
  summary: "List density operations",
  description:
    "The caller's operations, which are requests for population density with a sink, of the last day, the newest " +
    "first. One that was accepted a moment ago may be missing.",
  method: "GET",
  path: family,
  aliases: [aliasFamily],
  scope,
  query: {
    state: z.optional(z.enum(states).check(z.meta({ description: "Only operations in this state." }))),
    perPage: z.optional(
      z.string().check(
        z.refine((text) => /^(?:[1-9]|[1-4][0-9]|50)$/.test(text), {
          message: "must be an integer between 1 and 50",
        }),
        z.meta({
          type: "integer",
          minimum: 1,
          maximum: 50,
          default: 20,
          description: "Operations of a page at most.",
        }),
      ),
    ),
    pageToken: z.optional(
      z.string().check(z.maxLength(200), z.meta({ description: "The `nextPageToken` of the page before." })),
    ),
  },
  responses: { 200: operationList },
  errors: callerErrors,
});

/** `DELETE /populationdensitydata/operations/{operationId}` (docs/deliveries.md). */
export const cancelOperation = endpoint({
  id: "population-density/cancel-operation",
  operationId: "cancelDensityOperation",
  summary: "Cancel a density operation",
  description:
    "Ends a pending density operation. Unless the answer says `possiblyDelivered`, its sink gets nothing any " +
    "more. Cancelling twice is cancelling once.",
  method: "DELETE",
  path: `${family}/{operationId}`,
  aliases: [`${aliasFamily}/{operationId}`],
  scope,
  parameters: { operationId },
  responses: { 200: operation },
  errors: [...callerErrors, "NOT_FOUND", "POPULATION_DENSITY_DATA.OPERATION_ENDED"],
});

const redelivery = z.object({ sink, sinkCredential: z.optional(sinkCredential) }).check(
  z.meta({
    id: "Redelivery",
    description: "Where the answer is delivered: the sink of the request was erased with its outcome.",
    examples: [{ sink: "https://sink.example.com/densities" }],
  }),
);

const redeliveryOperation = z.object({ operationId }).check(
  z.meta({
    id: "RedeliveryOperation",
    description: "The answer will be delivered to the sink by an operation of its own.",
    examples: [{ operationId: "2f0c9f5e-8f5c-4d0e-9f0f-6a1f0f6f5b7c" }],
  }),
);

/** `POST /populationdensitydata/operations/{operationId}/redeliver` (docs/deliveries.md). */
export const redeliverOperation = endpoint({
  id: "population-density/redeliver-operation",
  operationId: "redeliverDensityOperation",
  summary: "Deliver the answer of a density operation again",
  description:
    "Starts a density operation that delivers the answer of an ended one, computed again, to another sink.",
  method: "POST",
  path: `${family}/{operationId}/redeliver`,
  aliases: [`${aliasFamily}/{operationId}/redeliver`],
  scope,
  parameters: { operationId },
  requestHeaders: { "Idempotency-Key": idempotencyKey },
  body: redelivery,
  sameCallbackAs: "retrievePopulationDensity",
  responses: { 202: redeliveryOperation },
  links: {
    202: {
      operation: {
        operationId: "getDensityOperation",
        description: "What has become of the new operation.",
        parameters: { operationId: "$response.body#/operationId" },
      },
    },
  },
  replyHeaders: { 202: { location: "Where the new operation can be followed." } },
  errors: [
    ...callerErrors,
    "INVALID_CREDENTIAL",
    "INVALID_TOKEN",
    "INVALID_SINK",
    "NOT_FOUND",
    "POPULATION_DENSITY_DATA.OPERATION_PENDING",
  ],
});
