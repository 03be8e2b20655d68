/** A name that shares less with a mistyped one is another name, not the one that was meant. */
const leastSimilarity = 0.4;

/**
 * The known name that shares most pairs of letters with a mistyped one (Sørensen–Dice: twice the shared pairs by all of
 * both); none if that is less than 0.4.
 */
export function nearestName(mistyped: string, known: readonly string[]): string | undefined {
  const scored = known.map((name) => ({ name, score: similarity(pairsOf(mistyped), pairsOf(name)) }));
  const [best] = scored.sort((one, other) => other.score - one.score);
  return best !== undefined && best.score >= leastSimilarity ? best.name : undefined;
}

function pairsOf(name: string): ReadonlySet<string> {
  const lower = name.toLowerCase();
  return new Set(Array.from({ length: Math.max(lower.length - 1, 0) }, (_, at) => lower.slice(at, at + 2)));
}

function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((pair) => other.has(pair)).length;
  return (2 * shared) / (one.size + other.size);
}
