import { expect, test } from "vitest";
import { limitReached, type Permit } from "../../../functions/population-density/delivery/permit-rules.ts";
import {
  acquirePermit,
  freePermit,
  type PermitPorts,
} from "../../../functions/population-density/delivery/permits.ts";
import { seeded } from "../../support/random.ts";
import { VirtualTime } from "../../support/virtual-time.ts";
import { MemoryPermits } from "./model/memory-stores.ts";

const until = 330_000;
const { signal } = new AbortController();

function permit(id: string, changes: Partial<Permit> = {}): Permit {
  return { holder: `id-${id}`, host: "h", caller: id, mode: "answer", since: 0, until, ...changes };
}

/**
 * The most uploads of 12 workers at once, whose calls come in an order that follows from the seed, and how many were
 * held back although at no time of their ask the permits of uploads did so.
 */
async function mostAtOnce(seed: number) {
  const random = seeded(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const time = new VirtualTime();
  const memory = new MemoryPermits();
  // Permits of workers that are gone.
  memory.permits = ["a", "b", "c", "d"].map((id) => permit(id, { host: "host-0", until: 0 }));
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
    await freePermit(one, ports.permits, signal);
  };
  await time.pass(Promise.all(Array.from({ length: 12 }, (_, index) => work(index))));
  return {
    ...most,
    left: memory.permits.length,
    wronglyHeldBack: asks.filter((ask) => !wasHeldBack(ask)).length,
  };
}

test("12 workers of two callers exceed no limit, hold nobody back wrongly and leave no permit, in 200 orders of their calls", async () => {
  const found = { all: 0, toHost: 0, ofCallerToHost: 0, left: 0, wronglyHeldBack: 0 };
  for (let seed = 1; seed <= 200; seed++) {
    const most = await mostAtOnce(seed);
    for (const name of ["all", "toHost", "ofCallerToHost", "left", "wronglyHeldBack"] as const)
      found[name] = Math.max(found[name], most[name]);
  }
  // Half of ten workers, and the first upload of the second caller.
  expect(found).toEqual({ all: 6, toHost: 4, ofCallerToHost: 3, left: 0, wronglyHeldBack: 0 });
});
