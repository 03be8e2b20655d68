import { type PartQuality, withQuality } from "../../tiles/quality.ts";
import { changeQuality } from "../../tiles/quality-store.ts";
import { summaryOf } from "../judge/figures.ts";
import type { PartFigures } from "../judge/part-figures.ts";
import { excludedDays } from "../store/exclusion-store.ts";
import { writeFigures } from "../store/figure-store.ts";
import type { JudgedNumbers } from "../store/journal-store.ts";
import type { DensityOrder } from "./import-order.ts";
import { expiryOf } from "./tile-items.ts";

/** An observed day that an import has published. */
export interface PublishedFigures extends Pick<JudgedNumbers, "findings"> {
  readonly date: string;
  readonly parts: readonly PartFigures[];
}

/**
 * Stores the figures of observed days that are published, for the judgement of later ones and for readers. Doing it
 * again changes nothing.
 */
export async function storeFigures(
  { typical, replay }: DensityOrder,
  days: readonly PublishedFigures[],
): Promise<void> {
  if (typical || days.length === 0) return;
  for (const { date, parts } of days) await writeFigures(date, parts, expiryOf(date));
  const excluded = await excludedDays(replay);
  const imported = days.map(({ date, parts, findings }) => ({
    day: date,
    parts: parts.map(qualityOf),
    findings,
  }));
  await changeQuality((before) => withQuality(before, imported, excluded));
}

function qualityOf({ part, figures }: PartFigures): PartQuality {
  return { part, ...summaryOf(figures) };
}
