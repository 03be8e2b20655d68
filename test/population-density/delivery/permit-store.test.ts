import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Permit, shortened } from "../../../functions/population-density/delivery/permit-rules.ts";
import { permitStore } from "../../../functions/population-density/delivery/permit-store.ts";
import { acquirePermit, freePermit } from "../../../functions/population-density/delivery/permits.ts";
import { sharedPorts } from "../../../functions/population-density/delivery/service-ports.ts";
import { densityPermits } from "../../../functions/population-density/delivery/tables.ts";
import { getItem } from "../../../shared/aws/database.ts";
import { hashed } from "../../../shared/hash.ts";
import { withSchema } from "../../../shared/table.ts";
import { useOwnTable, useTables } from "../../support/database.ts";
import { seeded } from "../../support/random.ts";
import { MemoryPermits } from "./model/memory-stores.ts";

const signal = () => AbortSignal.timeout(60_000);

beforeAll(async () => {
  useTables();
  // The service's workers remove permits that have expired, and wait for free ones.
  await useOwnTable(densityPermits);
});

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
  test("200 random calls give the same permits in DynamoDB and in the model's memory", async () => {
    const random = seeded(1);
    const memory = new MemoryPermits();
    const known = Array.from({ length: 8 }, (_, index) => permit(index));
    for (let step = 0; step < 200; step++) {
      const one = known[Math.floor(random() * known.length)] as Permit;
      const some = [one, ...known.filter(() => random() < 0.2)];
      const call = Math.floor(random() * 3);
      if (call === 0) {
        expect(byHolder(await permitStore.add(one, signal()))).toEqual(byHolder(memory.add(one)));
      } else if (call === 1) {
        await permitStore.remove(some, signal());
        memory.remove(some);
      } else {
        await permitStore.recordAcceptance(one.host, signal());
        memory.recordAcceptance(one.host);
      }
      expect(byHolder(await permitStore.read(signal()))).toEqual(byHolder(memory.read()));
      const { host } = some.at(-1) ?? one;
      expect(await permitStore.hasAccepted(host, signal())).toBe(memory.hasAccepted(host));
    }
    await permitStore.remove(known, signal());
  });

  test("20 workers that acquire at once all hold a permit, and none is left after they release at once", async () => {
    const workers = 20;
    const ports = { ...sharedPorts, permits: permitStore, workers };
    const wanted = Array.from({ length: workers }, (_, index) => permit(index));

    const refused = await Promise.all(wanted.map((one) => acquirePermit(one, ports, signal())));
    const permits = await permitStore.read(signal());
    await Promise.all(wanted.map((one) => freePermit(one, permitStore, signal())));

    expect(refused.filter((one) => one !== undefined)).toEqual([]);
    expect(byHolder(permits)).toEqual(byHolder(wanted.map(shortened)));
    expect(await permitStore.read(signal())).toEqual([]);
  });

  test("a permit is stored in at most 50 bytes, because every write costs the size of all", async () => {
    await permitStore.add(shortened(permit(1)), signal());
    const item = withSchema(densityPermits, z.object({ held: z.set(z.string()) }));
    const stored = await getItem(item, { limit: "permits", entry: "all" }, signal());
    expect([...(stored?.held ?? [])].map((entry) => entry.length)).toEqual([
      expect.toSatisfy((length) => length <= 50),
    ]);
  });
});
