/** What the numbers of a tile in an hour are: those that were observed then, or those of its typical weekday. */
export type Basis = "OBSERVED" | "TYPICAL";

/** What the tiles of an answer are made from in each of its hours; undefined where nothing is stored. */
interface BasesOfAnswer {
  readonly tiles: readonly unknown[];
  readonly hours: readonly unknown[];
  readonly basisOf: (tile: number, hour: number) => Basis | undefined;
}

/**
 * What the intervals of an answer are made from, as a list of RFC 9651 in their order, such as
 * `OBSERVED;hours=20, TYPICAL;hours=4`. An interval is `MIXED` if some tiles were observed and others were not, and
 * `NONE` if nothing is stored of it; an answer without intervals is `NONE`.
 */
export function basisList({ tiles, hours, basisOf }: BasesOfAnswer): string {
  const runs: { readonly basis: string; hours: number }[] = [];
  for (const hour of hours.keys()) {
    const [basis = "NONE", ...others] = new Set(tiles.flatMap((_, tile) => basisOf(tile, hour) ?? []));
    const ofInterval = others.length > 0 ? "MIXED" : basis;
    const last = runs.at(-1);
    if (last?.basis === ofInterval) last.hours++;
    else runs.push({ basis: ofInterval, hours: 1 });
  }
  return runs.map((run) => `${run.basis};hours=${run.hours}`).join(", ") || "NONE";
}
