import { type DayQuality, toldQuality } from "../tiles/quality.ts";

/** What callers are told of observed days, the latest first. */
export function announcedQuality(days: readonly DayQuality[]) {
  return days.map((each) => {
    const { day, hours, people, cells, suppressedShare, findings, isExcluded } = toldQuality(each);
    return {
      day,
      hours,
      people,
      coveredCells: cells,
      suppressedShare,
      isTypical: !isExcluded,
      findings: findings.map(({ code, level, hours, text }) => ({ code, level, hours, description: text })),
    };
  });
}
