import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { type Permit, shortened } from "../../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../../functions/population-density/delivery/permit-store.ts";
import { acquirePermit, releasePermit } from "../../../functions/population-density/delivery/permits.ts";
import { sharedPorts } from "../../../functions/population-density/delivery/service-ports.ts";
import { densityPermits } from "../../../functions/population-density/delivery/tables.ts";
import { getItem } from "../../../shared/aws/database.ts";
import { hashed } from "../../../shared/hash.ts";
import { withSchema } from "../../../shared/table.ts";
import { useOwnTable, useTables } from "../../support/database.ts";

const signal = () => AbortSignal.timeout(60_000);

beforeAll(async () => {
  useTables();
  // The service's workers remove permits that have expired, and wait for free ones.
  await useOwnTable(densityPermits);
});
afterAll(() => vi.unstubAllEnvs());

function permit(index: number): Permit {
  return {
    holder: crypto.randomUUID(),
    host: hashed(`host ${index}`),
    caller: hashed(`caller ${index}`),
    mode: index % 2 === 0 ? "answer" : "failure",
    since: Date.now(),
    until: Date.now() + 600_000,
  };
}

const byHolder = (permits: readonly Permit[]) =>
  permits.toSorted((one, other) => one.holder.localeCompare(other.holder));

describe("permits", () => {
  test("permitStore.add returns the permits that were there just before", async () => {
    const [one, two] = [permit(1), permit(2)];
    expect(await permitStore.add(one, signal())).toEqual([]);
    expect(await permitStore.add(two, signal())).toEqual([one]);
    expect(byHolder(await permitStore.read(signal()))).toEqual(byHolder([one, two]));

    await permitStore.remove([one, two], signal());
    expect(await permitStore.read(signal())).toEqual([]);
  });

  test("permitStore.remove leaves other permits, and ignores those that are not there", async () => {
    const [one, two] = [permit(1), permit(1)];
    await permitStore.remove([one], signal());
    await permitStore.add(one, signal());
    await permitStore.add(two, signal());
    await permitStore.remove([one], signal());
    await permitStore.remove([one], signal());
    expect(await permitStore.read(signal())).toEqual([two]);
    await permitStore.remove([two], signal());
  });

  test("permitStore loses no permit when 20 workers acquire and release at once", async () => {
    const workers = 20;
    const ports = { ...sharedPorts, permits: permitStore, workers };
    const wanted = Array.from({ length: workers }, (_, index) => permit(index));

    const refused = await Promise.all(wanted.map((one) => acquirePermit(one, ports, signal())));
    const permits = await permitStore.read(signal());
    await Promise.all(wanted.map((one) => releasePermit(one, permitStore, signal())));

    expect(refused.filter((one) => one !== undefined)).toEqual([]);
    expect(byHolder(permits)).toEqual(byHolder(wanted.map(shortened)));
    expect(await permitStore.read(signal())).toEqual([]);
  });

  test("permitStore stores a permit in at most 50 bytes, because every write costs the size of all", async () => {
    await permitStore.add(shortened(permit(1)), signal());
    const item = withSchema(densityPermits, z.object({ held: z.set(z.string()) }));
    const stored = await getItem(item, { limit: "permits", entry: "all" }, signal());
    expect([...(stored?.held ?? [])].map((entry) => entry.length)).toEqual([
      expect.toSatisfy((length) => length <= 50),
    ]);
  });
});

test("permitStore remembers that a host has answered 2xx", async () => {
  const host = crypto.randomUUID();
  expect(await permitStore.hasAccepted(host, signal())).toBe(false);
  await permitStore.recordAcceptance(host, signal());
  expect(await permitStore.hasAccepted(host, signal())).toBe(true);
});
