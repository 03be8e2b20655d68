import { setTimeout as wait } from "node:timers/promises";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { keepDay, listDayParts, readDayParts } from "./part-store.ts";
import type { DayParts, ListedPart } from "./tables.ts";

/**
 * How long an import has a day unless it renews its lease. No writer that has lost a day writes for
 * longer: its last look at the lease, of two calls at most, took two minutes, and the write after that takes one.
 */
export const leaseMilliseconds = 180_000;

/** How long a writer writes without another look at its lease. */
const lookMilliseconds = leaseMilliseconds / 4;

/** The time of day, which may be put back, and a clock that may stand still while the machine sleeps. */
const machineClocks: readonly (() => number)[] = [Date.now, () => performance.now()];

/** Is told of a wait. @param until epoch milliseconds. */
export type OnWait = (date: string, until: number) => void;

/** How long an import waits for others that store its days, and how often it looks. */
export const waitingMilliseconds = leaseMilliseconds + 60_000;
export const pauseMilliseconds = 200;

/**
 * The parts of a day once no import is storing it.
 * @param day `typicalDay` or `observedDay`.
 * @param date as the refusal names it.
 * @param deadline epoch milliseconds.
 * @param onWait called once with the date if another import has the day, and until when it has it if it was killed.
 * @throws {ImportError} when another import is still storing it at the deadline.
 */
export async function settledParts(
  day: string,
  date: string,
  deadline: number,
  onWait?: OnWait,
): Promise<DayParts | undefined> {
  for (let isTold = false; ; await wait(pauseMilliseconds)) {
    const parts = await readDayParts(day);
    const until = parts?.writerUntil ?? 0;
    if (until <= Date.now()) return parts;
    if (!isTold) onWait?.(date, until);
    isTold = true;
    if (Date.now() < deadline) continue;
    throw new ImportError([`${date}: another import is storing it: repeat this one when it has ended`]);
  }
}

/** The refusal of an import that another one has taken a day from, or before. */
function takenSince(date: string): ImportError {
  return new ImportError([`${date}: another import has started to store it: repeat this one`]);
}

/**
 * A day that an import has taken. Its parts are listed by the first call of `hold`, so an import that ends before it
 * has written anything leaves none.
 *
 * The lease is checked before each write, and renewed when the last look is `lookMilliseconds` ago. A process that
 * sleeps between check and write for longer than the lease can still write one item that the other import has found
 * unchanged; at its end it says so. A fencing token would prevent that, but DynamoDB checks another item only in a
 * transaction, at twice the write units, and all tiles would check one item, whose partition takes 1,000 units a
 * second.
 */
export class HeldDay {
  readonly #key: string;
  readonly #date: string;
  readonly #listed: readonly ListedPart[] | undefined;
  readonly #writer: string;
  readonly #clocks: readonly (() => number)[];
  /** By each clock; undefined until the parts are listed. */
  #renewedAt: readonly number[] | undefined;
  #renewing: Promise<void> | undefined;

  /**
   * @param key `typicalDay` or `observedDay`.
   * @param date as refusals name it.
   * @param listed the parts of the day once anything of it is written; if undefined, those that it has.
   * @param writer the import.
   * @param clocks in milliseconds; the one that has gone furthest counts.
   */
  constructor(
    key: string,
    date: string,
    listed: readonly ListedPart[] | undefined,
    writer: string,
    clocks = machineClocks,
  ) {
    this.#key = key;
    this.#date = date;
    this.#listed = listed;
    this.#writer = writer;
    this.#clocks = clocks;
  }

  /**
   * To be called before each write: it ends before the lease does.
   * @throws {ImportError} when another import has taken the day since.
   */
  async hold(): Promise<void> {
    const ages = this.#clocks.map((clock, index) => clock() - (this.#renewedAt?.[index] ?? 0));
    if (this.#renewedAt === undefined || Math.max(...ages) > lookMilliseconds) await this.renew();
  }

  /**
   * To be called when everything is written: nobody else has had the day meanwhile.
   * @throws {ImportError} when another import has taken the day since.
   */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewNow().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    const renewedAt = this.#clocks.map((clock) => clock());
    const until = Date.now() + leaseMilliseconds;
    const isOurs =
      this.#renewedAt === undefined
        ? await listDayParts(this.#key, this.#listed, this.#writer, until)
        : await keepDay(this.#key, this.#writer, until);
    if (!isOurs) throw takenSince(this.#date);
    this.#renewedAt = renewedAt;
  }
}
