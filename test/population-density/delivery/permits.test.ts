import { describe, expect, test } from "vitest";
import type { PermitRequest } from "../../../functions/population-density/delivery/permit-rules.ts";
import {
  acquirePermit,
  type PermitPorts,
  releasePermit,
} from "../../../functions/population-density/delivery/permits.ts";
import { MemoryPermits } from "../../../tools/delivery-model/memory-stores.ts";

const now = 1_000_000;
const workers = 10;
let last = 0;

/** A host's permits in memory, and the messages that were woken. */
class Uploads {
  readonly memory = new MemoryPermits();
  readonly woken: string[] = [];
  /** Runs once, when a release has looked who waits and before it writes. */
  beforeWrite = async () => {};
  readonly #signal = new AbortController().signal;
  readonly #ports: PermitPorts = {
    permits: {
      read: async () => this.memory.read(),
      write: async (permits, version) => {
        const { beforeWrite } = this;
        this.beforeWrite = async () => {};
        await beforeWrite();
        return this.memory.write(permits, version);
      },
      addWaiting: async (entry) => this.memory.addWaiting(entry),
      removeWaiting: async (entry) => this.memory.removeWaiting(entry),
      waitingAt: async (limit) => this.memory.waitingAt(limit),
      noteAgreement: async (host) => this.memory.noteAgreement(host),
      hasAgreed: async (host) => this.memory.hasAgreed(host),
    },
    queues: {
      wake: async (_, receiptHandle) => {
        this.woken.push(receiptHandle);
        return true;
      },
    },
    clock: { now: () => now, deadline: () => this.#signal },
    workers,
  };

  /** Begins an upload; its message waits when there is no permit, as a worker lets it wait. */
  async begin(operationId: string, host: string, caller: string): Promise<PermitRequest> {
    const request = { operationId, holder: `holder-${operationId}`, host, caller, mode: "answer" } as const;
    const limit = await acquirePermit(request, now + 1_000, this.#ports, this.#signal);
    if (limit === undefined) return request;
    const { holder: _, ...asked } = request;
    const since = ++last;
    this.memory.addWaiting({ ...asked, limit, since, queue: "q", receiptHandle: operationId });
    await acquirePermit(request, now + 1_000, this.#ports, this.#signal);
    return request;
  }

  async end(request: PermitRequest): Promise<void> {
    await releasePermit(request, this.#ports, this.#signal);
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

  test("wakes who began to wait while it ended", async () => {
    const uploads = new Uploads();
    const first = await uploads.begin("a1", "h", "a");
    for (const id of ["b1", "c1", "d1"]) await uploads.begin(id, "h", id);
    uploads.beforeWrite = async () => void (await uploads.begin("e1", "h", "e"));
    await uploads.end(first);
    expect(uploads.woken).toEqual(["e1"]);
  });
});
