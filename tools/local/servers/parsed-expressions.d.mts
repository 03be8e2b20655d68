/** Makes dynalite's parsers keep what they have parsed. */
export function keepParsedExpressions(): void;
