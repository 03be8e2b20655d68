import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Waiting } from "../../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../../functions/population-density/delivery/permit-store.ts";
import { maxHiddenMilliseconds } from "../../../functions/population-density/delivery/rules.ts";
import { densityPermits } from "../../../functions/population-density/delivery/tables.ts";
import { putItem } from "../../../shared/aws/database.ts";
import { useOwnTable, useTables } from "../../support/database.ts";

const signal = () => AbortSignal.timeout(60_000);

beforeAll(async () => {
  useTables();
  // The service's workers remove permits that have expired, and wait for free ones.
  await useOwnTable(densityPermits);
});
afterAll(() => vi.unstubAllEnvs());

function waiting(limit: string, since: number): Waiting {
  const operationId = crypto.randomUUID();
  const message = { queue: "density-jobs", receiptHandle: crypto.randomUUID() };
  return { limit, since, operationId, host: "host", caller: "caller", mode: "answer", ...message };
}

describe("who waits for a permit", () => {
  test("is found by the limit, the longest waiting first, until it is removed", async () => {
    const limit = `host ${crypto.randomUUID()}`;
    expect(await permitStore.waitingAt(limit, signal())).toEqual([]);
    // As texts, 9 would come after 10.
    const [first, second] = [waiting(limit, 9), waiting(limit, 10)];
    await permitStore.addWaiting(second, signal());
    await permitStore.addWaiting(first, signal());
    await permitStore.addWaiting(waiting(`${limit} other`, 1), signal());
    expect(await permitStore.waitingAt(limit, signal())).toEqual([first, second]);
    const again = { ...first, receiptHandle: "newer" };
    await permitStore.addWaiting(again, signal());
    expect(await permitStore.waitingAt(limit, signal())).toEqual([again, second]);
    await permitStore.removeWaiting(first, signal());
    expect(await permitStore.waitingAt(limit, signal())).toEqual([second]);
  });
});

test("permits are replaced only by who has read the last ones", async () => {
  const permit = { operationId: "a", host: "h", caller: "c", mode: "answer", until: Date.now() } as const;
  const holders: readonly string[] = Array.from({ length: 6 }, () => crypto.randomUUID());
  await Promise.all(
    holders.map(async (holder) => {
      for (;;) {
        const { permits, waitedUntil, version } = await permitStore.read(signal());
        const inUse = { permits: [...permits, { ...permit, holder }], waitedUntil: waitedUntil + 1 };
        if (await permitStore.write(inUse, version, signal())) return;
      }
    }),
  );
  const { permits, waitedUntil, version } = await permitStore.read(signal());
  expect(permits.map(({ holder }) => holder).sort()).toEqual([...holders].sort());
  expect(version).toBe(holders.length);
  expect(waitedUntil).toBe(holders.length);
  expect(await permitStore.write({ permits, waitedUntil }, version - 1, signal())).toBe(false);
});

test("permits that an older version of the service has written, without `waitedUntil`, let releases look for jobs", async () => {
  const { version } = await permitStore.read(signal());
  const item = { limit: "permits", entry: "all", permits: "[]", version: version + 1 };
  await putItem(densityPermits, item, {}, signal());
  const found = await permitStore.read(signal());
  expect(found.waitedUntil).toBeGreaterThanOrEqual(Date.now() + maxHiddenMilliseconds - 60_000);
  await permitStore.write(found, found.version, signal());
  expect(await permitStore.read(signal())).toEqual({ ...found, version: version + 2 });
});

test("a host that has answered 2xx is known as one that agreed, and no other is", async () => {
  const host = crypto.randomUUID();
  expect(await permitStore.hasAgreed(host, signal())).toBe(false);
  await permitStore.noteAgreement(host, signal());
  expect(await permitStore.hasAgreed(host, signal())).toBe(true);
});
