import { beforeAll, expect, test } from "vitest";
import { profiles } from "../../functions/profile/tables.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { TableLease } from "../../tools/import/table-lease.ts";
import { useOwnTable, useTables } from "../support/database.ts";

beforeAll(async () => {
  useTables();
  await useOwnTable(profiles);
});

/** Days apart, so that no test waits for the lease of another one. */
let day = Date.parse("2026-11-01");
const nextDay = () => (day += 86_400_000);

test("Lease keeps other imports out while a batch runs that began just before a renewal", async () => {
  let now = nextDay();
  const lease = await TableLease.of(profiles, () => now);
  now += 29_999;
  await lease.renew();
  now += patienceMilliseconds;
  const times = [now, now, now, now, Number.POSITIVE_INFINITY];
  const other = TableLease.of(profiles, () => times.shift() ?? Number.POSITIVE_INFINITY);
  await expect(other).rejects.toThrow("another import of profiles is running");
  await lease.renew();
  await lease.release();
});

test("TableLease.renew rejects once another import has taken a lapsed lease, even after that import has ended", async () => {
  let now = nextDay();
  const lease = await TableLease.of(profiles, () => now);
  now += 4 * 60_000;
  const other = await TableLease.of(profiles, () => now);
  await expect(lease.renew()).rejects.toThrow("another import of profiles has started");
  await other.release();
  await expect(lease.renew()).rejects.toThrow("another import of profiles has started");
  await lease.release();
});

test("TableLease.renew renews a lapsed lease that no other import has taken", async () => {
  let now = nextDay();
  const lease = await TableLease.of(profiles, () => now);
  now += 4 * 60_000;
  await lease.renew();
  await lease.release();
});
