import { maxTileDays } from "./limits.ts";
import type { DensityQuery, Fault } from "./parse.ts";
import { type QuerySize, sizeOf } from "./size.ts";

/** What a deployment supports. Limits are in slots: cells × hours. */
export interface ServiceLimits {
  /** Lengths of geohashes, ascending. */
  readonly precisions: readonly number[];
  readonly syncLimit: number;
  readonly asyncLimit: number;
}

/**
 * Checks precision and size of a query (specification 4.4).
 * @returns the size of a query that is supported, which is exact. Otherwise a fault; its message names the finest coarser
 * precision at which the same query would be accepted.
 */
export function supportedSize(
  query: DensityQuery,
  limits: ServiceLimits,
  hasSink: boolean,
): QuerySize | Fault {
  const { precisions } = limits;
  if (!precisions.includes(query.precision)) {
    const message = `The precision is not supported. Supported are ${precisions.join(", ")}.`;
    return { code: "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION", message };
  }
  const size = boundedSize(query, limits);
  const exceeded = exceededLimit(size, limits, hasSink);
  if (exceeded === undefined) return size;
  const fits = (precision: number) =>
    exceededLimit(boundedSize({ ...query, precision }, limits), limits, hasSink) === undefined;
  const finest = precisions.filter((precision) => precision < query.precision).findLast(fits);
  const advice =
    finest === undefined
      ? "No coarser supported precision fits."
      : `The finest supported precision that fits is ${finest}.`;
  return { code: `POPULATION_DENSITY_DATA.${exceeded.code}`, message: `${exceeded.message} ${advice}` };
}

function boundedSize(query: DensityQuery, { syncLimit, asyncLimit }: ServiceLimits): QuerySize {
  return sizeOf(query, { slots: Math.max(syncLimit, asyncLimit), tileDays: maxTileDays.async });
}

/** The limit that a query exceeds. */
interface ExceededLimit {
  readonly code: "UNSUPPORTED_REQUEST" | "UNSUPPORTED_SYNC_RESPONSE";
  readonly message: string;
}

/** The first limit that a size exceeds: those that hold with a sink too come first. */
function exceededLimit(
  { slots, areCellsExact, tileDays, areTilesExact }: QuerySize,
  { syncLimit, asyncLimit }: ServiceLimits,
  hasSink: boolean,
): ExceededLimit | undefined {
  const measures = [
    { unit: "Cells × hours", size: slots, isExact: areCellsExact, sync: syncLimit, async: asyncLimit },
    { unit: "Tiles × days", size: tileDays, isExact: areTilesExact, ...maxTileDays },
  ];
  const beyondAsync = measures.find(({ size, async }) => size > async);
  if (beyondAsync !== undefined) {
    const message = messageOf(beyondAsync, `with a sink is ${beyondAsync.async}`);
    return { code: "UNSUPPORTED_REQUEST", message };
  }
  const beyondSync = hasSink ? undefined : measures.find(({ size, sync }) => size > sync);
  if (beyondSync === undefined) return undefined;
  const message = messageOf(beyondSync, `without a sink is ${beyondSync.sync}`);
  return { code: "UNSUPPORTED_SYNC_RESPONSE", message };
}

interface Measure {
  readonly unit: string;
  readonly size: number;
  readonly isExact: boolean;
}

function messageOf({ unit, size, isExact }: Measure, limit: string): string {
  return `${unit} are ${isExact ? "" : "at least "}${size}, the limit ${limit}.`;
}
