import { type PartQuality, withQuality } from "../../tiles/quality.ts";
import { changeQuality } from "../../tiles/quality-store.ts";
import { summaryOf } from "../judge/figures.ts";
import type { JudgedDay } from "../judge/judge-import.ts";
import type { PartFigures } from "../judge/part-figures.ts";
import { excludedDays } from "../store/exclusion-store.ts";
import { writeFigures } from "../store/figure-store.ts";
import { expiryOf } from "./tile-items.ts";

/**
 * Stores the figures of an observed day that is published, for the judgement of later ones and for readers. Doing it
 * again changes nothing.
 * @param replay see `ImportOptions`.
 */
export async function storeFigures(
  { date, parts, findings }: JudgedDay,
  replay: number | undefined,
): Promise<void> {
  await writeFigures(date, parts, expiryOf(date));
  const excluded = await excludedDays(replay);
  const imported = [{ day: date, parts: parts.map(qualityOf), findings }];
  await changeQuality((before) => withQuality(before, imported, excluded));
}

function qualityOf({ part, figures }: PartFigures): PartQuality {
  return { part, ...summaryOf(figures) };
}
