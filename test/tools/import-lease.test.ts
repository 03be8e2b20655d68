import { beforeAll, describe, expect, test } from "vitest";
import { profiles } from "../../functions/profile/tables.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { Lease } from "../../tools/import/lease.ts";
import { useOwnTable, useTables } from "../support/database.ts";

beforeAll(async () => {
  useTables();
  await useOwnTable(profiles);
});

/** Days apart, so that no test waits for the lease of another one. */
let day = Date.parse("2026-11-01");
const nextDay = () => (day += 86_400_000);

describe("the lease of an import", () => {
  test("is its own as long as a batch may take that began just before it would be renewed", async () => {
    let now = nextDay();
    const lease = await Lease.of(profiles, () => now);
    now += 29_999;
    await lease.renew();
    now += patienceMilliseconds;
    const times = [now, now, now, now, Number.POSITIVE_INFINITY];
    const other = Lease.of(profiles, () => times.shift() ?? Number.POSITIVE_INFINITY);
    await expect(other).rejects.toThrow("another import of profiles is running");
    await lease.renew();
    await lease.release();
  });

  test("is lost to another import once it has lapsed, and stays lost when that one has ended", async () => {
    let now = nextDay();
    const lease = await Lease.of(profiles, () => now);
    now += 4 * 60_000;
    const other = await Lease.of(profiles, () => now);
    await expect(lease.renew()).rejects.toThrow("another import of profiles has started");
    await other.release();
    await expect(lease.renew()).rejects.toThrow("another import of profiles has started");
    await lease.release();
  });

  test("is kept after it has lapsed if no other import has begun", async () => {
    let now = nextDay();
    const lease = await Lease.of(profiles, () => now);
    now += 4 * 60_000;
    await lease.renew();
    await lease.release();
  });
});
