import { beforeAll, describe, expect, test } from "vitest";
import type { Waiting } from "../../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../../functions/population-density/delivery/permit-store.ts";
import { useTables } from "../../support/database.ts";

const signal = () => AbortSignal.timeout(10_000);

beforeAll(useTables);

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
  const permit = {
    operationId: "a",
    host: "h",
    caller: "c",
    mode: "answer",
    until: Date.now() + 500,
  } as const;
  const holders: readonly string[] = Array.from({ length: 6 }, () => crypto.randomUUID());
  // Other tests take permits of the same item meanwhile: each tries until it has its turn.
  await Promise.all(
    holders.map(async (holder) => {
      for (;;) {
        const { permits, version } = await permitStore.read(signal());
        if (await permitStore.write([...permits, { ...permit, holder }], version, signal())) return;
      }
    }),
  );
  const { permits } = await permitStore.read(signal());
  const kept = permits.map(({ holder = "" }) => String(holder)).filter((holder) => holders.includes(holder));
  expect(kept.sort()).toEqual([...holders].sort());
  const { permits: mine, version } = await permitStore.read(signal());
  expect(await permitStore.write(mine, version - 1, signal())).toBe(false);
});

test("a host that has answered 2xx is known as one that agreed, and no other is", async () => {
  const host = crypto.randomUUID();
  expect(await permitStore.hasAgreed(host, signal())).toBe(false);
  await permitStore.noteAgreement(host, signal());
  expect(await permitStore.hasAgreed(host, signal())).toBe(true);
});
