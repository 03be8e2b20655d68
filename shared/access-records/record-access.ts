import { randomUUID } from "node:crypto";
import { insertItem } from "../aws/database.ts";
import { dayMilliseconds } from "../calendar.ts";
import type { Caller } from "../caller.ts";
import { setting } from "../environment.ts";
import { getOrCreatePseudonymKey } from "../pseudonym-keys/key.ts";
import { ACCESS_RECORD_DAYS } from "../variables/access-record-days.ts";
import { pseudonymOf } from "./pseudonym.ts";
import { accessRecords, type DataKind } from "./table.ts";

/** What is about to be answered, about whom and to whom. */
interface Access {
  readonly subscription: string;
  readonly kind: DataKind;
  readonly by: Pick<Caller, "client" | "purpose">;
}

/** The members of a request that are used here. */
interface RequestContext {
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly quotaChecked: Promise<unknown>;
}

/** The key of the pseudonyms, which never changes. */
let key: string | undefined;

/**
 * Records that a caller reads data about a subscriber, by one write. To be awaited before the answer: what
 * cannot be recorded is not answered. With `ACCESS_RECORD_DAYS` 0 nothing is recorded.
 * @throws {Unavailable} if the record may not have been written.
 */
export async function recordAccess(
  { subscription, kind, by: { client, purpose } }: Access,
  { now, signal, quotaChecked }: RequestContext,
): Promise<void> {
  const days = setting(ACCESS_RECORD_DAYS);
  if (days === 0) return;
  // A request over its quota is answered with 429, so it reads nothing.
  await quotaChecked;
  key ??= await getOrCreatePseudonymKey("access-records", signal);
  const item = {
    subject: pseudonymOf(subscription, key),
    at: `${now.toISOString()} ${randomUUID()}`,
    client,
    kind,
    purpose,
    expiresAt: Math.ceil((now.getTime() + days * dayMilliseconds) / 1_000),
  };
  // INSERT never replaces a record. One that is there already is this one: its first write was executed, its answer lost.
  await insertItem(accessRecords, item, signal);
}
