import { siblingsOf } from "../../tiles/span.ts";
import { readSpans, replaceSpan } from "../../tiles/store.ts";
import type { NewTileSpan, StoredTileSpan } from "../../tiles/table.ts";
import type { HeldDay } from "../store/day-lease.ts";

/** For one call to the table. */
export const callMilliseconds = 60_000;
const inTime = () => AbortSignal.timeout(callMilliseconds);

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
   * Stores a span unless the same is stored.
   * @returns whether it was written.
   * @throws {ChangedMeanwhile} for a span that another import has written since it was read.
   */
  async store(item: NewTileSpan, held: HeldDay): Promise<boolean> {
    const before = (await this.of([item.day])).get(item.day);
    if (isSame(item, before)) return false;
    await held.hold();
    if (!(await replaceSpan(item, before, inTime()))) {
      // The answer to a call may be lost, and the call be made again: then it is the item that is there.
      const [now] = await readSpans(this.tile, [item.day], inTime());
      if (!isSame(item, now)) throw new ChangedMeanwhile(item.day);
    }
    return true;
  }
}

/** Two imports store the same weekday of a tile at a time, of different dates; the span is in the message. */
export class ChangedMeanwhile extends Error {
  constructor(span: string) {
    super(`another import has changed ${span}: repeat this one when that has ended`);
    this.name = "ChangedMeanwhile";
  }
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
