import * as z from "zod/mini";
import { subscriptionId } from "../../shared/devices/subscription.ts";
import { phoneNumber } from "../../shared/schemas.ts";
import { table } from "../../shared/table.ts";
import { calendarDate } from "./contract.ts";

/** That a subscriber held a number from a day to a day, both included. */
export const numberAssignment = z.object({
  phoneNumber,
  /** Opaque; the same subscriber signing again keeps the same id. */
  subscriber: subscriptionId,
  from: calendarDate,
  /** Absent while the subscriber still holds the number. */
  to: z.optional(calendarDate),
});

/** An assignment of a number as the table holds it. */
export type NumberAssignment = z.infer<typeof numberAssignment>;

/** Who held a number from which day on. */
export const numberAssignments = table({
  name: "number-assignments",
  partitionKey: "phoneNumber",
  sortKey: "from",
  personalData: true,
  schema: numberAssignment,
});
