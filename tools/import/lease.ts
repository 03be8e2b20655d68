import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { deleteItem, putItem } from "../../shared/aws/database.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import type { Table } from "../../shared/table.ts";

/** A table is an import's own for so long, unless it renews the lease. */
const leaseMilliseconds = 60_000;

/** How long an import waits for another one, and how often it looks. */
const waitingMilliseconds = 2 * leaseMilliseconds;
const pauseMilliseconds = 200;

/** The right to be the only import into a table: what was checked then still holds when it is written. */
export class Lease {
  readonly #table: Table;
  readonly #writer = randomUUID();
  #renewedAt = 0;

  private constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Waits until no other import has the table.
   * @throws {ImportError} after two minutes.
   */
  static async of(table: Table): Promise<Lease> {
    const lease = new Lease(table);
    for (const givenUpAt = Date.now() + waitingMilliseconds; Date.now() < givenUpAt; ) {
      if (await lease.#take()) return lease;
      await wait(pauseMilliseconds);
    }
    throw new ImportError([`another import of ${table.name} is running: repeat this one when it has ended`]);
  }

  /** To be called before each write. @throws {ImportError} when another import has the table by now. */
  async renew(): Promise<void> {
    if (Date.now() - this.#renewedAt < leaseMilliseconds / 4 || (await this.#take())) return;
    throw new ImportError([`another import of ${this.#table.name} has started: repeat this one`]);
  }

  async release(): Promise<void> {
    const ours = { condition: "writer = :writer", values: { ":writer": this.#writer } };
    await deleteItem(this.#table, this.#key(), ours, AbortSignal.timeout(patienceMilliseconds));
  }

  async #take(): Promise<boolean> {
    const now = Date.now();
    const free = {
      condition: "attribute_not_exists(writer) OR writer = :writer OR writerUntil < :now",
      values: { ":writer": this.#writer, ":now": now },
    };
    const item = { ...this.#key(), writer: this.#writer, writerUntil: now + leaseMilliseconds };
    const isTaken = await putItem(this.#table, item, free, AbortSignal.timeout(patienceMilliseconds));
    if (isTaken) this.#renewedAt = now;
    return isTaken;
  }

  /** No record has it. */
  #key(): Record<string, string> {
    const { partitionKey, sortKey } = this.#table;
    return { [partitionKey]: "import", ...(sortKey === undefined ? {} : { [sortKey]: "import" }) };
  }
}
