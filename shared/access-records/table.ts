import * as z from "zod/mini";
import { table } from "../table.ts";

/** The kinds of data about a subscriber that a caller can read. */
const dataKinds = z.enum([
  "device-identifiers",
  "device-ppid",
  "device-type",
  "number-history",
  "qos-profiles",
  "subscription",
]);

/** A kind of data about a subscriber. */
export type DataKind = z.infer<typeof dataKinds>;

/** That a caller read a kind of data about a subscriber. */
const accessRecord = z.object({
  /** The pseudonym of the subscription. */
  subject: z.string(),
  /** When it was read, ISO 8601, and what tells the record from another of that moment. */
  at: z.string(),
  /** Who read it. */
  client: z.string(),
  kind: dataKinds,
  /** For which purpose, as the caller's token says; absent when it says none. */
  purpose: z.optional(z.string()),
  /** Epoch second after which DynamoDB may delete the item. */
  expiresAt: z.number(),
});

/** Who read what about whom: written once and never changed. No function may read it. */
export const accessRecords = table({
  name: "access-records",
  partitionKey: "subject",
  sortKey: "at",
  timeToLive: "expiresAt",
  rarelyRead: true,
  personalData: true,
  schema: accessRecord,
});
