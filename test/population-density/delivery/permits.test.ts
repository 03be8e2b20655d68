import { describe, expect, test } from "vitest";
import type { PermitRequest, Waiting } from "../../../functions/population-density/delivery/permit-rules.ts";
import {
  acquireOrWait,
  type PermitPorts,
  releasePermit,
} from "../../../functions/population-density/delivery/permits.ts";
import { maxHiddenMilliseconds } from "../../../functions/population-density/delivery/rules.ts";
import { MemoryPermits } from "../../../tools/delivery-model/memory-stores.ts";

const workers = 10;
let last = 0;

/** Who makes a call. */
type Turn = (name: string) => Promise<void>;

/** A host's permits in memory, and the messages that were woken. */
class Uploads {
  now = 1_000_000;
  readonly memory = new MemoryPermits();
  readonly woken: string[] = [];
  /** Receipt handles that are no longer valid. */
  readonly invalid = new Set<string>();
  /** The calls that were made. */
  readonly calls: string[] = [];
  readonly #signal = new AbortController().signal;

  /** @param turn awaited before each call. */
  #ports(turn: Turn): PermitPorts {
    const { memory } = this;
    const call = async <Value>(name: string, make: () => Value): Promise<Value> => {
      await turn(name);
      this.calls.push(name);
      return make();
    };
    return {
      permits: {
        read: () => call("read", () => memory.read()),
        write: (inUse, version) => call("write", () => memory.write(inUse, version)),
        addWaiting: (entry) => call("addWaiting", () => memory.addWaiting(entry)),
        removeWaiting: (entry) => call(`removeWaiting ${entry.limit}`, () => memory.removeWaiting(entry)),
        waitingAt: (limit) => call(`waitingAt ${limit}`, () => memory.waitingAt(limit)),
        noteAgreement: (host) => call("noteAgreement", () => memory.noteAgreement(host)),
        hasAgreed: (host) => call("hasAgreed", () => memory.hasAgreed(host)),
      },
      queues: {
        wake: (_, receiptHandle) =>
          call("wake", () => {
            if (this.invalid.has(receiptHandle)) return false;
            this.woken.push(receiptHandle);
            return true;
          }),
      },
      clock: { now: () => this.now, deadline: () => this.#signal },
      workers,
    };
  }

  /** Begins an upload; its message waits when there is no permit. */
  async begin(
    operationId: string,
    host: string,
    caller: string,
    turn: Turn = async () => {},
  ): Promise<PermitRequest> {
    const request = { operationId, holder: `holder-${operationId}`, host, caller, mode: "answer" } as const;
    const message = { since: ++last, queue: "q", receiptHandle: operationId, isNew: true };
    await acquireOrWait(request, this.now + 86_400_000, message, this.#ports(turn), this.#signal);
    return request;
  }

  async end(request: PermitRequest, turn: Turn = async () => {}): Promise<void> {
    await releasePermit(request, this.#ports(turn), this.#signal);
  }

  /** Whether an operation has a permit, or one is kept for it. */
  mayGo(operationId: string): boolean {
    return this.memory.read().permits.some((permit) => permit.operationId === operationId);
  }
}

/**
 * Lets two processes make their calls one at a time, in an order of choices: whether the second goes first, each time
 * that both could.
 * @returns the choices that were made: those given, and after them that the first goes first.
 */
async function interleave(
  choices: readonly boolean[],
  first: (turn: Turn) => Promise<unknown>,
  second: (turn: Turn) => Promise<unknown>,
): Promise<readonly boolean[]> {
  const made: boolean[] = [];
  const waiting = [first, second].map((run) => {
    const calls: (() => void)[] = [];
    const process = { calls, isOver: false };
    // At other limits than the host's nobody waits: when those lists are read or written makes no difference.
    const turn: Turn = (name) =>
      /^(?:waitingAt|removeWaiting) (?!host h$)/.test(name)
        ? Promise.resolve()
        : new Promise<void>((resolve) => void calls.push(resolve));
    run(turn).then(() => {
      process.isOver = true;
    });
    return process;
  });
  for (;;) {
    await new Promise(setImmediate);
    const able = waiting.filter(({ isOver }) => !isOver);
    if (able.length === 0) return made;
    const isSecond = able.length === 2 && (choices[made.length] ?? false);
    if (able.length === 2) made.push(isSecond);
    able[isSecond ? 1 : 0]?.calls.shift()?.();
  }
}

describe("an upload that ends", () => {
  test("wakes the next at its host though older ones there wait for what their caller may not have", async () => {
    const uploads = new Uploads();
    for (const id of ["a1", "a2", "a3"]) await uploads.begin(id, "h", "a");
    const first = await uploads.begin("b1", "h", "b");
    for (let index = 4; index < 24; index++) await uploads.begin(`a${index}`, "h", "a");
    await uploads.begin("b2", "h", "b");
    await uploads.end(first);
    expect(uploads.woken).toEqual(["b2"]);
  });

  test("wakes those of other callers whose share of the workers has grown, as many as may go", async () => {
    const uploads = new Uploads();
    const others = [];
    for (let index = 0; index < 5; index++) others.push(await uploads.begin(`b${index}`, `h${index}`, "b"));
    for (let index = 0; index < 8; index++) await uploads.begin(`a${index}`, `i${index}`, "a");
    expect(uploads.memory.read().permits.filter(({ caller }) => caller === "a")).toHaveLength(2);
    for (const other of others) await uploads.end(other);
    expect(uploads.woken).toEqual(["a2", "a3", "a4"]);
  });

  test("lets who may not go yet wait for what holds him back now, and that wakes him", async () => {
    const uploads = new Uploads();
    for (let index = 0; index < 3; index++) await uploads.begin(`b${index}`, "h", "b");
    const toHost = await uploads.begin("c1", "h", "c");
    const own = [];
    for (let index = 0; index < 3; index++) own.push(await uploads.begin(`a${index}`, `g${index}`, "a"));
    await uploads.begin("a3", "h", "a");
    await uploads.end(toHost);
    expect(uploads.woken).toEqual([]);
    await uploads.end(own[0] as PermitRequest);
    expect(uploads.woken).toEqual(["a3"]);
  });

  test("wakes a job that it moves to another limit just when a permit of that one is released", async () => {
    const uploads = new Uploads();
    for (let index = 0; index < 3; index++) await uploads.begin(`b${index}`, "h", "b");
    const toHost = await uploads.begin("c1", "h", "c");
    const own: PermitRequest[] = [];
    for (let index = 0; index < 3; index++) own.push(await uploads.begin(`a${index}`, `g${index}`, "a"));
    await uploads.begin("a3", "h", "a");
    await uploads.end(toHost, async (name) => {
      if (name === "addWaiting") for (const request of own) await uploads.end(request);
    });
    expect(uploads.woken).toEqual(["a3"]);
  });

  test("wakes a job that waited at one limit, and at another when it tried once more", async () => {
    const uploads = new Uploads();
    for (let index = 0; index < 3; index++) await uploads.begin(`b${index}`, "h", "b");
    const toHost = await uploads.begin("c1", "h", "c");
    const own = await uploads.begin("a0", "g0", "a");
    await uploads.begin("a1", "g1", "a");
    let isFirst = true;
    await uploads.begin("a3", "h", "a", async (name) => {
      if (name !== "addWaiting" || !isFirst) return;
      isFirst = false;
      await uploads.end(toHost);
      await uploads.begin("a2", "g2", "a");
    });
    expect(uploads.mayGo("a3")).toBe(false);
    expect([...uploads.memory.waiting.values()].map(({ limit }) => limit)).toEqual(["caller a"]);
    await uploads.end(own);
    expect(uploads.woken).toEqual(["a3"]);
  });

  test("keeps a permit for a job that is woken, though an older entry of it has an invalid receipt handle", async () => {
    const uploads = new Uploads();
    for (const id of ["b1", "c1", "d1"]) await uploads.begin(id, "h", id);
    const own = await uploads.begin("e1", "h", "e");
    await uploads.begin("e2", "h", "e");
    const [entry] = uploads.memory.waitingAt("host h");
    uploads.invalid.add("older");
    uploads.memory.addWaiting({ ...(entry as Waiting), limit: "caller e", receiptHandle: "older" });
    await uploads.end(own);
    expect(uploads.woken).toEqual(["e2"]);
    expect(uploads.mayGo("e2")).toBe(true);
  });

  test.each([
    ["when nobody waited before", false],
    ["when somebody has waited before", true],
  ])(
    "lets a job go that begins to wait at the same time, whatever the order of calls: %s",
    async (_, hasWaited) => {
      const missed: string[] = [];
      const ways = new Set<string>();
      let orders = 0;
      for (let choices: readonly boolean[] | undefined = []; choices !== undefined; ) {
        const uploads = new Uploads();
        const running = await uploads.begin("a1", "h", "a");
        for (const id of ["b1", "c1", "d1"]) await uploads.begin(id, "h", id);
        // For a permit of another host.
        for (let index = 0; hasWaited && index < 5; index++)
          await uploads.begin(`e${index}`, "g", `e${index}`);
        const made: readonly boolean[] = await interleave(
          choices,
          (turn) => uploads.end(running, turn),
          (turn) => uploads.begin("f1", "h", "f", turn),
        );
        orders++;
        const isWoken = uploads.woken.includes("f1");
        ways.add(isWoken ? "woken" : "at once");
        if (!uploads.mayGo("f1")) missed.push(made.map(Number).join(""));
        // The next order differs in the last choice that can still be made otherwise.
        const index = made.lastIndexOf(false);
        choices = index < 0 ? undefined : [...made.slice(0, index), true];
      }
      expect(missed).toEqual([]);
      expect([...ways].sort()).toEqual(["at once", "woken"]);

      expect(orders).toBeGreaterThan(20);
    },
  );

  test("is not missed by a job that was overtaken twice when it raised `waitedUntil`", async () => {
    const uploads = new Uploads();
    const running = await uploads.begin("a1", "h", "a");
    for (const id of ["b1", "c1", "d1"]) await uploads.begin(id, "h", id);
    const overtaking = [() => uploads.begin("x", "i", "x"), () => uploads.end(running)];
    await uploads.begin("e1", "h", "e", async (name) => {
      if (name === "write") await overtaking.shift()?.();
    });
    expect(overtaking).toEqual([]);
    expect(uploads.mayGo("e1")).toBe(true);
  });

  test("looks for no job until one waits, and then for as long as the message of one may be hidden", async () => {
    const uploads = new Uploads();
    const again = async () => {
      uploads.calls.length = 0;
      await uploads.end(await uploads.begin("x", "i", "x"));
      return uploads.calls.filter((name) => name.startsWith("waitingAt")).length;
    };
    for (const id of ["a1", "b1", "c1", "d1"]) await uploads.begin(id, "h", id);
    expect(await again()).toBe(0);
    expect(uploads.calls).toEqual(["read", "write", "read", "write"]);
    await uploads.begin("e1", "h", "e");
    uploads.now += maxHiddenMilliseconds;
    expect(await again()).toBeGreaterThan(0);
    await uploads.begin("f1", "h", "f");
    uploads.now += maxHiddenMilliseconds - 1;
    expect(await again()).toBeGreaterThan(0);
    uploads.now += maxHiddenMilliseconds;
    expect(await again()).toBe(0);
  });
});
