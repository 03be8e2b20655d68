import { prefixOf } from "../import/rows/row-key.ts";
import type { Coverage, Part } from "../privacy/parts.ts";
import type { CountedFiles } from "./counted-files.ts";
import { keys, type PrefixPlan, putJson, tilesOf } from "./execution-objects.ts";

/** A plan without the rows, which are looked up when it is written. */
type PlanWithoutRows = Omit<PrefixPlan, "rows">;

/** What each prefix of tiles covers, and what parts have there. */
export function prefixPlans(
  coverage: Coverage,
  parts: ReadonlyMap<string, Part>,
): ReadonlyMap<string, PlanWithoutRows> {
  const plans = new Map<string, PlanWithoutRows>();
  const [[someTile] = [""]] = coverage;
  const { length } = prefixOf(someTile);
  for (const [prefix, tiles] of byPrefix(coverage, length)) {
    plans.set(prefix, { tiles: tilesOf(tiles), parts: [] });
  }
  for (const { id, precision, coverage: cells } of parts.values()) {
    for (const [prefix, tiles] of byPrefix(cells, length)) {
      plans.get(prefix)?.parts.push({ id, precision, tiles: tilesOf(tiles) });
    }
  }
  return plans;
}

/** Tiles that are coarser than a prefix are in none. */
function byPrefix(coverage: Coverage, length: number): Map<string, [string, Uint8Array][]> {
  const prefixes = new Map<string, [string, Uint8Array][]>();
  for (const tile of coverage) {
    if (tile[0].length < length) continue;
    const prefix = tile[0].slice(0, length);
    const tiles = prefixes.get(prefix) ?? [];
    tiles.push(tile);
    prefixes.set(prefix, tiles);
  }
  return prefixes;
}

const writesAtOnce = 16;

/** Writes the plan of each prefix, with where its rows are. */
export async function writePrefixes(
  id: string,
  prefixes: ReadonlyMap<string, PlanWithoutRows>,
  counted: CountedFiles,
): Promise<void> {
  const left = prefixes.entries();
  const writeInTurn = async () => {
    for (const [prefix, here] of left) {
      const plan: PrefixPlan = { ...here, rows: counted.rowsWith(prefix) };
      await putJson(keys.prefix(id, prefix), plan);
    }
  };
  await Promise.all(Array.from({ length: writesAtOnce }, writeInTurn));
}
