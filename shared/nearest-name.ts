/** The known name that shares most pairs of letters with a mistyped one (Sørensen–Dice); none if no pair is shared. */
export function nearestName(mistyped: string, known: readonly string[]): string | undefined {
  const scored = known.map((name) => ({ name, score: similarity(pairsOf(mistyped), pairsOf(name)) }));
  const [best] = scored.sort((one, other) => other.score - one.score);
  return best !== undefined && best.score > 0 ? best.name : undefined;
}

function pairsOf(name: string): ReadonlySet<string> {
  const lower = name.toLowerCase();
  return new Set(Array.from({ length: Math.max(lower.length - 1, 0) }, (_, at) => lower.slice(at, at + 2)));
}

function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((pair) => other.has(pair)).length;
  return (2 * shared) / (one.size + other.size);
}
