import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { permitStore } from "../../../functions/population-density/delivery/permit-store.ts";
import { acquirePermit } from "../../../functions/population-density/delivery/permits.ts";
import { sharedPorts } from "../../../functions/population-density/delivery/service-ports.ts";
import { densityPermits } from "../../../functions/population-density/delivery/tables.ts";
import { getItem, putItem } from "../../../shared/aws/database.ts";
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

/** The item as the previous version of the service reads it: other attributes are not its own. */
const previousPermit = z.strictObject({
  operationId: z.string(),
  holder: z.optional(z.string()),
  host: z.string(),
  caller: z.string(),
  mode: z.enum(["answer", "failure"]),
  since: z.optional(z.number()),
  until: z.number(),
});

describe("permits", () => {
  const permit = { operationId: "a", host: "h", caller: "c", mode: "answer", until: Date.now() } as const;

  test("permitStore.replace refuses a writer that has not read the latest permits", async () => {
    const found = await permitStore.read(signal());
    const next = [...found.permits, { ...permit, holder: "one", since: 1 }];
    expect(await permitStore.replace(found, next, signal())).toBe(true);
    expect(await permitStore.replace(found, [], signal())).toBe(false);
    expect(await permitStore.read(signal())).toEqual({
      permits: next,
      released: new Set(),
      version: found.version + 1,
    });
  });

  test("permitStore.release frees a permit while others replace the list", async () => {
    const before = await permitStore.read(signal());
    const three = ["one", "two", "three"].map((holder) => ({ ...permit, holder, since: 1 }));
    await permitStore.replace(before, three, signal());
    await permitStore.release("one", signal());
    const found = await permitStore.read(signal());
    expect(found.permits.map(({ holder }) => holder)).toEqual(["two", "three"]);

    await permitStore.release("two", signal());
    expect(await permitStore.replace(found, found.permits, signal())).toBe(true);

    const { permits, released } = await permitStore.read(signal());
    expect(permits.map(({ holder }) => holder)).toEqual(["three"]);
    expect(released).toEqual(new Set(["two"]));
  });

  test("permitStore reads permits of the previous version, including those without a holder", async () => {
    const { version } = await permitStore.read(signal());
    const item = { limit: "permits", entry: "all", permits: JSON.stringify([permit]), waitedUntil: 1 };
    await putItem(densityPermits, { ...item, version: version + 1 }, {}, signal());
    expect(await permitStore.read(signal())).toMatchObject({ permits: [permit], version: version + 1 });
  });

  test("permitStore writes permits that the previous version can read", async () => {
    const found = await permitStore.read(signal());
    await permitStore.replace(found, [{ ...permit, holder: "one", since: 1 }], signal());
    const item = z.object({ permits: z.string(), version: z.number() });
    const stored = await getItem(
      withSchema(densityPermits, item),
      { limit: "permits", entry: "all" },
      signal(),
    );
    expect(stored?.version).toBe(found.version + 1);
    expect(z.array(previousPermit).parse(JSON.parse(stored?.permits ?? ""))).toHaveLength(1);
  });

  test("permitStore loses no permit when 20 workers acquire and release at once", async () => {
    const workers = 20;
    const ports = { ...sharedPorts, permits: permitStore, workers };
    const requests = Array.from({ length: workers }, (_, index) => ({
      operationId: crypto.randomUUID(),
      holder: crypto.randomUUID(),
      host: hashed(`host ${index}`),
      caller: hashed(`caller ${index}`),
      mode: "answer" as const,
      since: Date.now(),
    }));
    const until = Date.now() + 600_000;

    const refused = await Promise.all(requests.map((one) => acquirePermit(one, until, ports, signal())));
    const { permits } = await permitStore.read(signal());
    await Promise.all(requests.map(({ holder }) => permitStore.release(holder, signal())));

    expect(refused.filter((one) => one !== undefined)).toEqual([]);
    expect(permits.map(({ holder }) => holder)).toEqual(
      expect.arrayContaining(requests.map(({ holder }) => holder)),
    );
    expect((await permitStore.read(signal())).permits.filter((one) => one.until === until)).toEqual([]);
    // An item of DynamoDB has at most 400 KB: 200 permits are far smaller.
    expect((JSON.stringify(permits).length / workers) * 200).toBeLessThan(100_000);
  });
});

test("permitStore remembers that a host has answered 2xx", async () => {
  const host = crypto.randomUUID();
  expect(await permitStore.hasAccepted(host, signal())).toBe(false);
  await permitStore.recordAcceptance(host, signal());
  expect(await permitStore.hasAccepted(host, signal())).toBe(true);
});
