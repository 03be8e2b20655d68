/**
 * Limits of a density request that are the same on every stage: the contract declares them, rules check them, and the
 * capabilities publish them. Only numbers, so that contracts may import them. Limits that a deployment sets are in
 * `shared/environment.ts`.
 */

/** Vertices of a polygon. */
export const minPoints = 3;
/** Vertices of a polygon. */
export const maxPoints = 15;

/** Calendar months from now to the earliest start, and to the latest end. */
export const months = 3;
/** The longest period. */
export const maxHours = 7 * 24;

/**
 * The maximum of tiles × days in one answer, typical and observed days alike. Without a sink,
 * as many as a second of the function's CPU reads and writes as JSON; with a sink, as many as may be in memory together
 * (docs/decisions/0004-quota-and-work.md). A long narrow area has few cells in many tiles.
 */
export const maxTileDays = { sync: 600, async: 2_600 } as const;
