import { describe, expect, test } from "vitest";
import { limitReached, type Permit } from "../../../functions/population-density/delivery/permit-rules.ts";
import {
  acquirePermit,
  type PermitPorts,
  releasePermit,
} from "../../../functions/population-density/delivery/permits.ts";
import { hashed } from "../../../shared/hash.ts";
import { seeded } from "../../support/random.ts";
import { VirtualTime } from "../../support/virtual-time.ts";
import { MemoryPermits } from "./model/memory-stores.ts";

const now = 1_000_000;
const until = now + 330_000;
const { signal } = new AbortController();

/** Permits in memory, and the calls that were made. */
function aStore() {
  const memory = new MemoryPermits();
  const calls: string[] = [];
  /** Run before a permit is added: what another worker does first. */
  const others: (() => void)[] = [];
  const ports: PermitPorts = {
    permits: {
      read: async () => {
        calls.push("read");
        return memory.read();
      },
      add: async (permit) => {
        calls.push("add");
        others.shift()?.();
        return memory.add(permit);
      },
      remove: async (permits) => {
        calls.push("remove");
        memory.remove(permits);
      },
    },
    clock: {
      now: () => now,
      pause: async () => {
        calls.push("pause");
      },
    },
    workers: 10,
  };
  return { memory, ports, calls, others };
}

function permit(id: string, changes: Partial<Permit> = {}): Permit {
  return { holder: `id-${id}`, host: "h", caller: id, mode: "answer", since: now - 1, until, ...changes };
}

/** A bucket of units of a partition, which refills by so many a second and holds those of a second. */
function unitsOf(perSecond: number, time: VirtualTime) {
  let [units, since] = [perSecond, time.now];
  return (wanted: number): boolean => {
    units = Math.min(perSecond, units + ((time.now - since) / 1_000) * perSecond);
    since = time.now;
    if (units < wanted) return false;
    units -= wanted;
    return true;
  };
}

/**
 * Acquires a permit for each of many workers at once, in an item of a DynamoDB partition: 1,000 write and 3,000 read
 * units a second. A throttled call is repeated after a pause.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
async function acquireAtOnce(workers: number) {
  const time = new VirtualTime();
  const memory = new MemoryPermits();
  const random = seeded(1);
  const [writeUnits, readUnits] = [unitsOf(1_000, time), unitsOf(3_000, time)];
  const bytes = () => 100 + memory.permits.reduce((sum, one) => sum + Object.values(one).join(" ").length, 0);
  const call = async <Value>(isPermitted: () => boolean, run: () => Value): Promise<Value> => {
    for (let attempt = 1; ; attempt++) {
      await time.wait(2 + 3 * random());
      if (isPermitted()) break;
      await time.wait(random() * 50 * 2 ** Math.min(attempt, 5));
    }
    const value = run();
    await time.wait(1 + random());
    return value;
  };
  const canWrite = () => writeUnits(Math.ceil(bytes() / 1_024));
  const ports: PermitPorts = {
    permits: {
      read: () =>
        call(
          () => readUnits(Math.ceil(bytes() / 4_096)),
          () => memory.read(),
        ),
      add: (one) => call(canWrite, () => memory.add(one)),
      remove: (some) => call(canWrite, () => memory.remove(some)),
    },
    clock: { now: () => time.now, pause: (milliseconds) => time.wait(milliseconds) },
    workers,
  };
  const wanted = Array.from({ length: workers }, (_, index) =>
    permit(hashed(String(index)), { holder: hashed(`${index}`), host: hashed(`host-${index}`) }),
  );
  const refused = await time.pass(Promise.all(wanted.map((one) => acquirePermit(one, ports, signal))));
  return { held: refused.filter((one) => one === undefined).length, seconds: time.now / 1_000 };
}

test.each([
  [50, 0.5],
  [200, 2],
])(
  "acquirePermit gives %i simultaneous workers their permits within %d s in a partition of DynamoDB",
  async (workers, seconds) => {
    const measured = await acquireAtOnce(workers);
    expect(measured.held).toBe(workers);
    expect(measured.seconds).toBeLessThan(seconds);
  },
);

describe("a permit", () => {
  test("acquirePermit takes a free permit with one read and one write", async () => {
    const { memory, ports, calls } = aStore();
    expect(await acquirePermit(permit("a"), ports, signal)).toBe(undefined);
    expect(memory.permits).toEqual([permit("a")]);
    expect(calls).toEqual(["read", "add"]);
  });

  test("acquirePermit keeps its permit when an earlier try of its write lost its response", async () => {
    const { memory, ports, others } = aStore();
    const three = ["a", "b", "c"].map((id) => permit(id));
    others.push(() => {
      memory.permits = [...three, permit("e")];
    });
    expect(await acquirePermit(permit("e"), ports, signal)).toBe(undefined);
    expect(memory.permits).toHaveLength(4);
  });

  test("acquirePermit removes expired permits", async () => {
    const { memory, ports } = aStore();
    memory.permits = ["a", "b", "c", "d"].map((id) => permit(id, { until: now }));
    expect(await acquirePermit(permit("e"), ports, signal)).toBe(undefined);
    expect(memory.permits).toEqual([permit("e")]);
  });
});

/**
 * The most uploads of 12 workers at once, whose calls come in an order that follows from the seed, and how many were
 * held back although at no time of their ask the permits of uploads did so.
 */
async function mostAtOnce(seed: number) {
  const random = seeded(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const time = new VirtualTime();
  const memory = new MemoryPermits();
  const call = async <Value>(run: () => Value): Promise<Value> => {
    await time.wait(1 + pick(5));
    return run();
  };
  const ports: PermitPorts = {
    permits: {
      read: () => call(() => memory.read()),
      add: (one) => call(() => changed(() => memory.add(one))),
      remove: (some) => call(() => changed(() => memory.remove(some))),
    },
    clock: { now: () => time.now, pause: (milliseconds) => time.wait(milliseconds) },
    workers: 10,
  };
  /** All permits that there were, also of those who gave way, since each change. */
  const history: { readonly at: number; readonly permits: readonly Permit[] }[] = [{ at: 0, permits: [] }];
  const changed = <Value>(change: () => Value): Value => {
    const value = change();
    history.push({ at: time.now, permits: memory.permits });
    return value;
  };
  const acquired = new Set<string>();
  const asks: { readonly one: Permit; readonly began: number; readonly ended: number }[] = [];
  const wasHeldBack = ({ one, began, ended }: (typeof asks)[number]) =>
    history.some(({ at, permits }, index) => {
      const until = history[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      const ofUploads = permits.filter(({ holder }) => acquired.has(holder));
      return at <= ended && until >= began && limitReached(ofUploads, one, 10, at) !== undefined;
    });
  const uploads = new Set<Permit>();
  const most = { all: 0, toHost: 0, ofCallerToHost: 0 };
  const work = async (index: number) => {
    const [host, caller] = [`host-${pick(4)}`, `caller-${pick(2)}`];
    await time.wait(pick(10));
    const began = time.now;
    const one = permit(String(index), { host, caller, until: began + until });
    if ((await acquirePermit(one, ports, signal)) !== undefined) {
      asks.push({ one, began, ended: time.now });
      return;
    }
    acquired.add(one.holder);
    uploads.add(one);
    const toHost = [...uploads].filter((other) => other.host === host);
    const ofCaller = toHost.filter((other) => other.caller === caller);
    most.all = Math.max(most.all, uploads.size);
    most.toHost = Math.max(most.toHost, toHost.length);
    most.ofCallerToHost = Math.max(most.ofCallerToHost, ofCaller.length);
    await time.wait(pick(20));
    uploads.delete(one);
    await releasePermit(one, ports.permits, signal);
  };
  await time.pass(Promise.all(Array.from({ length: 12 }, (_, index) => work(index))));
  return {
    ...most,
    left: memory.permits.length,
    wronglyHeldBack: asks.filter((ask) => !wasHeldBack(ask)).length,
  };
}

test("acquirePermit exceeds no limit and wrongly holds nobody back, for any order of the calls of two callers' workers", async () => {
  const found = { all: 0, toHost: 0, ofCallerToHost: 0, left: 0, wronglyHeldBack: 0 };
  for (let seed = 1; seed <= 200; seed++) {
    const most = await mostAtOnce(seed);
    for (const name of ["all", "toHost", "ofCallerToHost", "left", "wronglyHeldBack"] as const)
      found[name] = Math.max(found[name], most[name]);
  }
  // Half of ten workers, and the first upload of the second caller.
  expect(found).toEqual({ all: 6, toHost: 4, ofCallerToHost: 3, left: 0, wronglyHeldBack: 0 });
});
