import type { DayQuality } from "../data/capabilities.ts";
import type { Densities, Hour } from "../data/densities.ts";

/** The answer, whose observed hours say what was unusual about them. */
export function withUnusual(densities: Densities, quality: readonly DayQuality[]): Densities {
  return { ...densities, hours: densities.hours.map((hour) => ({ ...hour, ...unusualOf(hour, quality) })) };
}

function unusualOf({ start, basis }: Hour, quality: readonly DayQuality[]): Pick<Hour, "unusual"> {
  if (basis !== "OBSERVED" && basis !== "MIXED") return {};
  const day = quality.find((each) => each.day === start.toISOString().slice(0, 10));
  const found = day?.findings.filter(({ hours }) => hours.includes(start.getUTCHours())) ?? [];
  if (found.length === 0) return {};
  return { unusual: `Unusual: ${found.map(({ description }) => description).join("; ")}` };
}
