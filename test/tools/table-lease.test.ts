import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { numberAssignments } from "../../functions/number-recycling/tables.ts";
import { profiles } from "../../functions/profile/tables.ts";
import { getItem, putItem } from "../../shared/aws/database.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { devices } from "../../shared/devices/table.ts";
import { withSchema } from "../../shared/table.ts";
import { TableLease, withLeases } from "../../tools/import/table-lease.ts";
import { erase } from "../../tools/subject/erase.ts";
import { useOwnTable, useTables } from "../support/database.ts";

beforeAll(async () => {
  useTables();
  for (const table of [profiles, numberAssignments, devices]) await useOwnTable(table);
});

/** Days apart, so that no test waits for the lease of another one. */
let day = Date.parse("2026-11-01");
const nextDay = () => (day += 86_400_000);

test("a second import says once that it waits, and until when, and is refused while a batch runs that began just before a renewal", async () => {
  const said = vi.spyOn(console, "error").mockReturnValue();
  let now = nextDay();
  const lease = await TableLease.of(profiles, () => now);
  now += 29_999;
  await lease.renew();
  now += patienceMilliseconds;
  const times = [now, now, now, now, Number.POSITIVE_INFINITY];
  const other = TableLease.of(profiles, () => times.shift() ?? Number.POSITIVE_INFINITY);
  await expect(other).rejects.toThrow("another command is changing profiles");
  expect(said.mock.calls).toEqual([[expect.stringMatching(/^profiles: waiting for .* until 00:03:00 UTC$/)]]);
  await lease.renew();
  await lease.release();
});

test("an import stops when another one has taken its lapsed lease, even after that one has ended", async () => {
  let now = nextDay();
  const lease = await TableLease.of(profiles, () => now);
  now += 4 * 60_000;
  const other = await TableLease.of(profiles, () => now);
  await expect(lease.renew()).rejects.toThrow("another command has begun to change profiles");
  await other.release();
  await expect(lease.renew()).rejects.toThrow("another command has begun to change profiles");
  await lease.release();
});

test("an import renews a lapsed lease that no other import has taken", async () => {
  let now = nextDay();
  const lease = await TableLease.of(profiles, () => now);
  now += 4 * 60_000;
  await lease.renew();
  await lease.release();
});

const signal = () => AbortSignal.timeout(60_000);

/** When the lease of devices ends, in epoch milliseconds. */
async function endOfLease(): Promise<number> {
  const leases = withSchema(devices, z.object({ writerUntil: z.number() }));
  return (await getItem(leases, { identifier: "import" }, signal()))?.writerUntil ?? 0;
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("an import that only reads for ten minutes keeps other imports out", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: nextDay() });
  const begins = await withLeases([devices], async () => {
    for (let minutes = 0; minutes < 10; minutes++) {
      await vi.advanceTimersByTimeAsync(60_000);
      while ((await endOfLease()) < Date.now() + patienceMilliseconds) await pause(5);
    }
    const [now, ...times] = [Date.now(), Date.now(), Date.now(), Date.now()];
    return await TableLease.of(devices, () => times.shift() ?? now + 10 * 60_000).catch(String);
  });
  expect(begins).toContain("another command is changing devices");
});

test("an import whose lease cannot be released returns its result, and says that the table stays reserved for 3 minutes", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: nextDay() });
  const said = vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(TableLease.prototype, "release").mockRejectedValue(new Error("no answer"));

  expect(await withLeases([profiles], async () => "done")).toBe("done");
  vi.setSystemTime(nextDay());
  const failing = withLeases([profiles], () => Promise.reject(new Error("record 3: is wrong")));
  await expect(failing).rejects.toThrow("record 3: is wrong");

  expect(said).toHaveBeenCalledWith(expect.stringContaining("profiles: may be reserved for 3 more minutes"));
});

test("ncs subject erase waits for an import of assignments, and deletes what it has written", async () => {
  const subscription = crypto.randomUUID();
  const importing = await TableLease.of(numberAssignments);
  const erasing = erase(subscription, true);
  const assignment = { phoneNumber: "+34600000777", subscriber: subscription, from: "2020-01-01" };
  await putItem(numberAssignments, assignment, {}, signal());
  await importing.release();
  expect(await erasing).toEqual([["number-assignments", 1]]);
});
