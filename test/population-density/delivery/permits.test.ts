import { describe, expect, test } from "vitest";
import type { Permit, PermitRequest } from "../../../functions/population-density/delivery/permit-rules.ts";
import { acquirePermit, type PermitPorts } from "../../../functions/population-density/delivery/permits.ts";
import { VirtualTime } from "../../support/virtual-time.ts";
import { MemoryPermits } from "./model/memory-stores.ts";
import { seeded } from "./model/random.ts";

const now = 1_000_000;
const until = now + 330_000;
const { signal } = new AbortController();

/** Permits in memory, and the calls that were made. */
function aStore() {
  const memory = new MemoryPermits();
  const calls: string[] = [];
  const pauses: number[] = [];
  /** Runs before a write: what another worker does first. */
  const others: (() => void)[] = [];
  const ports: PermitPorts = {
    permits: {
      read: async () => {
        calls.push("read");
        return memory.read();
      },
      replace: async (found, permits) => {
        calls.push("replace");
        others.shift()?.();
        return memory.replace(found, permits);
      },
    },
    clock: {
      now: () => now,
      deadline: () => signal,
      pause: async (milliseconds) => void pauses.push(milliseconds),
    },
    random: () => 1,
    workers: 10,
  };
  return { memory, ports, calls, pauses, others };
}

function request(id: string, host = "h", caller = id): PermitRequest {
  return { operationId: id, holder: `holder-${id}`, host, caller, mode: "answer", since: now - 1 };
}

function permit(id: string, changes: Partial<Permit> = {}): Permit {
  return { ...request(id), until, ...changes };
}

test("acquirePermit gives 200 simultaneous workers their permits within 20 s when calls take 5 ms", async () => {
  const time = new VirtualTime();
  const memory = new MemoryPermits();
  const random = seeded(1);
  const call = async <Value>(run: () => Value): Promise<Value> => {
    await time.wait(2 + 3 * random());
    const value = run();
    await time.wait(1 + random());
    return value;
  };
  const ports: PermitPorts = {
    permits: {
      read: () => call(() => memory.read()),
      replace: (found, permits) => call(() => memory.replace(found, permits)),
    },
    clock: { now: () => time.now, deadline: () => signal, pause: (milliseconds) => time.wait(milliseconds) },
    random,
    workers: 200,
  };
  const requests = Array.from({ length: 200 }, (_, index) => request(String(index), `host-${index}`));

  await time.pass(Promise.all(requests.map((one) => acquirePermit(one, until, ports, signal))));

  expect(memory.permits).toHaveLength(200);
  expect(time.now).toBeLessThan(20_000);
});

describe("a permit", () => {
  test("acquirePermit takes a free permit with one read and one write", async () => {
    const { memory, ports, calls } = aStore();
    expect(await acquirePermit(request("a"), until, ports, signal)).toBe(undefined);
    expect(memory.permits).toEqual([permit("a")]);
    expect(memory.permits).toEqual([permit("a")]);
    expect(calls).toEqual(["read", "replace"]);
  });

  test("acquirePermit returns the blocking permits after one read when the limit is reached", async () => {
    const { memory, ports, calls } = aStore();
    memory.permits = ["a", "b", "c", "d"].map((id) => permit(id));
    expect(await acquirePermit(request("e"), until, ports, signal)).toEqual(memory.permits);
    expect(calls).toEqual(["read"]);
  });

  test("acquirePermit decides again after each concurrent write, with doubling pauses", async () => {
    const { memory, ports, pauses, others } = aStore();
    for (const id of ["a", "b", "c", "d"])
      others.push(() => memory.replace(memory.read(), [...memory.permits, permit(id)]));
    const holdingBack = await acquirePermit(request("e"), until, ports, signal);
    expect(holdingBack?.map(({ operationId }) => operationId)).toEqual(["a", "b", "c", "d"]);
    expect(pauses).toEqual([20, 40, 80, 160]);
  });

  test("acquirePermit returns a permit that an earlier write without a response has stored", async () => {
    const { memory, ports, calls } = aStore();
    memory.permits = [permit("a")];
    expect(await acquirePermit(request("a"), until, ports, signal)).toBe(undefined);
    expect(calls).toEqual(["read"]);
  });

  test("acquirePermit replaces expired permits", async () => {
    const { memory, ports } = aStore();
    memory.permits = ["a", "b", "c", "d"].map((id) => permit(id, { until: now }));
    expect(await acquirePermit(request("e"), until, ports, signal)).toBe(undefined);
    expect(memory.permits).toEqual([permit("e")]);
  });

  test("acquirePermit takes the place of a permit that was released just before its write", async () => {
    const { memory, ports, others } = aStore();
    for (const id of ["a", "b", "c", "d"]) await acquirePermit(request(id), until, ports, signal);
    memory.release("holder-a");
    others.push(() => memory.release("holder-b"));

    expect(await acquirePermit(request("e"), until, ports, signal)).toBe(undefined);
    expect(await acquirePermit(request("f"), until, ports, signal)).toBe(undefined);
    expect(await acquirePermit(request("g"), until, ports, signal)).toHaveLength(4);

    expect(memory.read().permits.map(({ operationId }) => operationId)).toEqual(["c", "d", "e", "f"]);
    expect(memory.released.size).toBe(0);
  });

  test("acquirePermit counts a permit reserved by the previous version until it expires", async () => {
    const { memory, ports } = aStore();
    const reserved = { ...permit("e"), holder: undefined, since: undefined };
    memory.permits = [...["a", "b", "c"].map((id) => permit(id)), reserved];
    expect(await acquirePermit(request("e"), until, ports, signal)).toHaveLength(4);

    memory.permits = memory.permits.map((one) => (one === reserved ? { ...one, until: now } : one));

    expect(await acquirePermit(request("e"), until, ports, signal)).toBe(undefined);
    expect(memory.permits).toHaveLength(4);
  });
});
