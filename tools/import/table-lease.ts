import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { deleteItem, getItem, putItem } from "../../shared/aws/database.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { type Table, withSchema } from "../../shared/table.ts";

/** How long a lease lasts unless it is renewed: longer than a batch may take. */
const leaseMilliseconds = patienceMilliseconds + 60_000;

/** A lease that is younger is not renewed. */
const renewalMilliseconds = 30_000;

/** How long an import waits for another one, also for one that was killed, and how often it looks. */
const waitingMilliseconds = leaseMilliseconds + 60_000;
const pauseMilliseconds = 200;

/**
 * The right to be the only import into a table: what was checked then still holds when it is written. Batches have no
 * conditions that could hold it, and transactions take twice the write units.
 */
export class TableLease {
  readonly #table: Table;
  readonly #clock: () => number;
  readonly #writer = randomUUID();
  #renewedAt = 0;

  private constructor(table: Table, clock: () => number) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Waits until no other import has the table, and says so once.
   * @throws {ImportError} after four minutes.
   */
  static async of(table: Table, clock = Date.now): Promise<TableLease> {
    const lease = new TableLease(table, clock);
    let isTold = false;
    const free = "attribute_not_exists(writer) OR writer = :writer OR writerUntil < :now";
    for (const deadline = clock() + waitingMilliseconds; clock() < deadline; ) {
      if (await lease.#take(free, { ":now": clock() })) return lease;
      const until: number = isTold ? 0 : await lease.#heldUntil();
      if (until > 0) tellWait(table.name, until);
      isTold ||= until > 0;
      await wait(pauseMilliseconds);
    }
    throw new ImportError([`another command is changing ${table.name}: repeat this one when it has ended`]);
  }

  /**
   * To be called before each batch.
   * @throws {ImportError} when another import has had the table since, even if it has ended: what was checked may not
   * hold.
   */
  async renew(): Promise<void> {
    if (this.#clock() - this.#renewedAt < renewalMilliseconds || (await this.#take("writer = :writer")))
      return;
    throw new ImportError([`another command has begun to change ${this.#table.name}: repeat this one`]);
  }

  async release(): Promise<void> {
    const ours = { condition: "writer = :writer", values: { ":writer": this.#writer } };
    await deleteItem(this.#table, this.#key(), ours, AbortSignal.timeout(patienceMilliseconds));
  }

  /** As `release`; says so if that fails, which changes nothing of what was done: the lease expires by itself. */
  async releaseOrExpire(): Promise<void> {
    try {
      await this.release();
    } catch {
      const minutes = leaseMilliseconds / 60_000;
      console.error(
        `${this.#table.name}: may be reserved for ${minutes} more minutes, as its table did not answer at the end; ` +
          "the next command on it waits for that",
      );
    }
  }

  /** Until when another one has the lease: 0 for one that it has just given back. */
  async #heldUntil(): Promise<number> {
    const leases = withSchema(this.#table, z.object({ writerUntil: z.number() }));
    return (await getItem(leases, this.#key(), AbortSignal.timeout(patienceMilliseconds)))?.writerUntil ?? 0;
  }

  async #take(condition: string, values: Readonly<Record<string, number>> = {}): Promise<boolean> {
    const now = this.#clock();
    const mayBeTaken = { condition, values: { ...values, ":writer": this.#writer } };
    const item = { ...this.#key(), writer: this.#writer, writerUntil: now + leaseMilliseconds };
    const isTaken = await putItem(this.#table, item, mayBeTaken, AbortSignal.timeout(patienceMilliseconds));
    if (isTaken) this.#renewedAt = now;
    return isTaken;
  }

  /** No record has it. */
  #key(): Record<string, string> {
    const { partitionKey, sortKey } = this.#table;
    return { [partitionKey]: leaseKey, ...(sortKey === undefined ? {} : { [sortKey]: leaseKey }) };
  }
}

/** Says that a command waits, as another one has what it needs. @param until epoch milliseconds. */
export function tellWait(what: string, until: number): void {
  const time = new Date(until + 999).toISOString().slice(11, 19);
  console.error(
    `${what}: waiting for another command that is changing it; if that was killed, until ${time} UTC`,
  );
}

const leaseKey = "import";

/** Whether an item of a table is the lease of an import, and no record. */
export function isLease({ partitionKey }: Table, item: Readonly<Record<string, unknown>>): boolean {
  return item[partitionKey] === leaseKey;
}

/**
 * Runs something during which no import into some tables may run. Waits for those that do, and renews the leases until
 * it has ended: it may read for longer than a lease lasts. Tables are taken in the order in which they are named; all
 * who take several name them in one order, so that none waits for another that waits for it.
 * @param run gets what is to be called before each write, which throws when another import has begun.
 * @throws {ImportError} when another import runs for four minutes.
 */
export async function withLeases<Value>(
  tables: readonly Table[],
  run: (renew: () => Promise<void>) => Promise<Value>,
): Promise<Value> {
  const leases: TableLease[] = [];
  const renew = async () => {
    await Promise.all(leases.map((lease) => lease.renew()));
  };
  // A lease that is lost meanwhile is found before the next write.
  const renewal = setInterval(() => void renew().catch(() => undefined), renewalMilliseconds);
  try {
    for (const table of tables) leases.push(await TableLease.of(table));
    return await run(renew);
  } finally {
    clearInterval(renewal);
    await Promise.all(leases.map((lease) => lease.releaseOrExpire()));
  }
}
