import { inTime } from "../../../../shared/aws/clients.ts";
import { whileChanged } from "../../../../shared/aws/while-changed.ts";
import { siblingsOf } from "../../tiles/span.ts";
import { createSpans, readSpans, replaceSpan } from "../../tiles/store.ts";
import type { NewTileSpan, StoredTileSpan } from "../../tiles/table.ts";
import type { HeldDay } from "../store/day-lease.ts";

/** The spans of a tile's days as they are stored, each read once. */
export class StoredSpans {
  readonly tile: string;
  readonly #read = new Map<string, StoredTileSpan | undefined>();

  constructor(tile: string) {
    this.tile = tile;
  }

  /**
   * Reads all spans of a day together.
   * @returns those of the given ones that were stored before this import, by their names.
   */
  async of(spans: readonly string[]): Promise<Map<string, StoredTileSpan>> {
    const unread = [
      ...new Set(spans.filter((span) => !this.#read.has(span)).flatMap((span) => siblingsOf(span))),
    ];
    for (const span of unread) this.#read.set(span, undefined);
    for (const item of await readSpans(this.tile, unread, inTime())) this.#read.set(item.day, item);
    return new Map(
      spans.flatMap((span) => {
        const item = this.#read.get(span);
        return item === undefined ? [] : [[span, item] as const];
      }),
    );
  }

  /**
   * Stores those spans that are not stored as they are: new ones with a few calls, in no order. An import that ends
   * meanwhile may have stored any of them.
   * @returns those that were written.
   * @throws {ChangedMeanwhile} for a span that another import has written since it was read.
   */
  async store(items: readonly NewTileSpan[], held: HeldDay): Promise<readonly NewTileSpan[]> {
    const before = await this.of(items.map(({ day }) => day));
    const changed = items.filter((item) => !isSame(item, before.get(item.day)));
    const created = changed.filter(({ day }) => !before.has(day));
    const refused: NewTileSpan[] = [];
    if (created.length > 0) {
      await held.hold();
      const isStored = await createSpans(created, inTime());
      refused.push(...created.filter((_, index) => isStored[index] === false));
    }
    for (const item of changed) {
      const replaced = before.get(item.day);
      if (replaced === undefined) continue;
      await held.hold();
      if (!(await replaceSpan(item, replaced, inTime()))) refused.push(item);
    }
    await this.#refuseOthers(refused);
    return changed;
  }

  /** The answer to a call may be lost, and the call be made again: then it is the item itself that is there. */
  async #refuseOthers(refused: readonly NewTileSpan[]): Promise<void> {
    if (refused.length === 0) return;
    const days = refused.map(({ day }) => day);
    const now = new Map((await readSpans(this.tile, days, inTime())).map((item) => [item.day, item]));
    const other = refused.find((item) => !isSame(item, now.get(item.day)));
    if (other !== undefined) throw new ChangedMeanwhile(other.day);
  }
}

/** Two imports store the same weekday of a tile at a time, of different dates; the span is in the message. */
class ChangedMeanwhile extends Error {
  constructor(span: string) {
    super(`another import has changed ${span}: repeat this one when that has ended`);
    this.name = "ChangedMeanwhile";
  }
}

/** Seven dates, one of each weekday, may be imported at a time and change the same spans; there are three to spare. */
const maxTries = 10;

/**
 * Repeats what stores spans of a tile while other imports change them.
 * @throws {ChangedMeanwhile} when they do each time.
 */
export async function whileSpansChange<Stored>(held: HeldDay, store: () => Promise<Stored>): Promise<Stored> {
  let change: unknown;
  const stored = await whileChanged(maxTries, () =>
    store().catch(async (error: unknown) => {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      change = error;
      // An import of another date has changed it, or the one that has the day now.
      await held.renew();
      return undefined;
    }),
  );
  if (stored === undefined) throw change;
  return stored;
}

/** Whether an item is stored as it is. */
function isSame(item: NewTileSpan, stored: StoredTileSpan | undefined): boolean {
  return (
    stored !== undefined &&
    Buffer.compare(item.hours, stored.hours) === 0 &&
    (item.madeFrom ?? []).join() === stored.madeFrom.join() &&
    (item.parts ?? []).join() === stored.parts.join() &&
    (item.separate ?? false) === stored.separate &&
    item.expiresAt === stored.expiresAt
  );
}
