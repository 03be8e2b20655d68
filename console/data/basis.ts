/** What the numbers of an hour are made from. */
import { percent } from "../base/numbers.ts";
import type { ForecastQuality } from "./capabilities.ts";

const bases = ["OBSERVED", "TYPICAL", "MIXED", "NONE"] as const;

/** Observed in that hour, of the same day of a typical week, some of each, or nothing stored. */
export type Basis = (typeof bases)[number];

/** Parses the header `x-density-basis`, such as `OBSERVED;hours=20, TYPICAL;hours=4`: the basis of each hour. */
export function parseBases(header: string | null): Basis[] {
  return (header ?? "").split(",").flatMap((member) => {
    const [, name, hours] = /^\s*([A-Z]+);hours=(\d+)\s*$/.exec(member) ?? [];
    const basis = bases.find((one) => one === name);
    return basis === undefined ? [] : Array.from({ length: Number(hours) }, () => basis);
  });
}

/** The basis of an hour that has several in several areas. */
export function combinedBasis(ofAreas: readonly (Basis | undefined)[]): Basis {
  const stored = ofAreas.filter((basis) => basis !== undefined && basis !== "NONE");
  const [basis = "NONE", ...others] = new Set(stored);
  return others.length > 0 ? "MIXED" : basis;
}

/** Whether the hours of which something is stored all have the same basis. */
export function haveOneBasis(bases: readonly Basis[]): boolean {
  return new Set(bases.filter((basis) => basis !== "NONE")).size <= 1;
}

/**
 * What an hour is made from, in words: `typical Sunday`; nothing for an hour of which nothing is stored.
 * @param isOfModel whether all that is covered is modelled: what was observed is not
 */
export function basisText(
  {
    basis,
    typicalDay,
  }: {
    readonly basis: Basis;
    /** The day of the typical week that the hour has, such as `Sunday`. */
    readonly typicalDay: string;
  },
  isOfModel = false,
): string {
  const typical = `typical ${typicalDay}`;
  const texts = {
    OBSERVED: "observed",
    TYPICAL: isOfModel ? `${typical}: a model, nobody was counted` : typical,
    MIXED: `partly observed, else ${typical}`,
    NONE: "",
  };
  return texts[basis];
}

/** Whether all that is covered is modelled, by its sources, each of which then says so. */
export function isModelled(provenance: readonly { readonly source: string }[]): boolean {
  return provenance.length > 0 && provenance.every(({ source }) => source.includes("nobody was counted"));
}

/** How far typical days were from what was observed, in all regions where that was: a sentence; undefined if nothing was. */
export function qualityText(quality: ForecastQuality | "elsewhere" | undefined): string | undefined {
  if (quality === "elsewhere") return "How far typical days are off was not measured here.";
  if (quality?.wape === undefined) return undefined;
  const { days, wape, withinRange } = quality;
  return (
    `In the regions where it was measured, also here, typical days were off by ${percent(wape)} (WAPE) in the latest ${days === 1 ? "day" : `${days} days`}, ` +
    `and ${percent(withinRange)} of the observed numbers were in their ranges.`
  );
}
