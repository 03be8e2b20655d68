import * as z from "zod/mini";
import { isCalendarDate } from "../../shared/calendar.ts";
import { endpoint } from "../../shared/endpoint.ts";
import { phoneNumber } from "../../shared/schemas.ts";

/** A day, `YYYY-MM-DD`, that is in the calendar. */
export const calendarDate = z
  .string()
  .check(z.refine(isCalendarDate, { message: "must be a date of the calendar, YYYY-MM-DD" }));

/** `POST /numberrecycling/check` (specification 4.5; the limits of specification 8 apply to it too). */
export const checkNumberRecycling = endpoint({
  id: "number-recycling/check",
  operationId: "checkNumberRecycling",
  summary: "Check number recycling",
  description:
    "Whether the subscriber of a phone number has changed since a given day. The number is the one that the request " +
    "names, or that of the subscription of a 3-legged token.",
  method: "POST",
  path: "/numberrecycling/check",
  aliases: ["/number-recycling/v0.2/check"],
  release: { name: "number-recycling 0.2.0" },
  scope: "number-recycling:check",
  body: z
    .object({
      specifiedDate: calendarDate.check(
        z.meta({ format: "date", description: "The day in question, in UTC; today at the latest." }),
      ),
      phoneNumber: z.optional(phoneNumber),
    })
    .check(
      z.meta({
        id: "NumberRecyclingCheck",
        description: "Which number, and since when.",
        examples: [{ specifiedDate: "2023-12-22", phoneNumber: "+34600000012" }],
      }),
    ),
  responses: {
    200: z
      .object({
        phoneNumberRecycled: z
          .boolean()
          .check(z.meta({ description: "Whether the subscriber changed after the day." })),
      })
      .check(
        z.meta({
          id: "NumberRecyclingResult",
          description: "What became of the number.",
          examples: [{ phoneNumberRecycled: true }],
        }),
      ),
  },
  errors: [
    "INVALID_ARGUMENT",
    "OUT_OF_RANGE",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "IDENTIFIER_NOT_FOUND",
    "SERVICE_NOT_APPLICABLE",
    "UNNECESSARY_IDENTIFIER",
    "MISSING_IDENTIFIER",
    "QUOTA_EXCEEDED",
    "TOO_MANY_REQUESTS",
  ],
});
