/** Areas that the API takes, made of those that a text holds. */
import { counted } from "../base/numbers.ts";
import {
  type Area,
  type AreaLimits,
  areaOf,
  areaProblem,
  areDegrees,
  noDegrees,
  type Point,
} from "../data/area.ts";
import { extentOf, simplified } from "./simplify.ts";

/** Each area is a request of its own, so that there is a limit to them. */
export const maxAreas = 20;

/** Areas that the API takes. */
export interface FittedAreas {
  readonly areas: readonly Area[];
  /** The outlines of simplified areas, as they were given. */
  readonly outlines: readonly (readonly Point[])[];
  /** Sentences about what differs from what was given. */
  readonly remarks: readonly string[];
}

/**
 * Makes areas of rings: without those that the API would refuse, simplified where they have too many points.
 * @throws {Error} with the reason, if none is left.
 */
export function fitAreas(rings: readonly (readonly Point[])[], limits: AreaLimits): FittedAreas {
  const fitted = largest(rings.map(openRing)).map((ring) => fitRing(ring, limits));
  const good = fitted.filter(({ problem }) => problem === undefined);
  const bad = fitted.flatMap(({ problem }) => problem ?? []);
  if (good.length === 0) throw new Error(bad[0]);
  const changed = good.filter(({ area, ring }) => area.boundary.length < ring.length);
  return {
    areas: good.map(({ area }) => area),
    outlines: changed.map(({ ring }) => ring),
    remarks: [
      ...(rings.length > maxAreas ? [`The ${maxAreas} largest of ${rings.length} polygons are used.`] : []),
      ...(bad.length > 0 ? [`Left out: ${counted(bad.length, "polygon")}. ${bad[0]}`] : []),
      ...simplificationRemark(changed, limits.maxPoints),
    ],
  };
}

/** A ring, and the area that is made of it, with the reason for which the API would refuse that. */
interface Fitted {
  readonly ring: readonly Point[];
  readonly area: Area;
  readonly problem: string | undefined;
}

function fitRing(ring: readonly Point[], limits: AreaLimits): Fitted {
  const isValid = (points: readonly Point[]) => areaProblem(areaOf(points), limits) === undefined;
  const outside = ring.find((point) => !areDegrees([point]));
  const isTooLong = ring.length > limits.maxPoints && outside === undefined;
  const area = areaOf(isTooLong ? simplified(ring, limits.maxPoints, isValid) : ring);
  const problem =
    outside === undefined ? areaProblem(area, limits) : noDegrees([outside.longitude, outside.latitude]);
  return { ring, area, problem };
}

function simplificationRemark(changed: readonly Fitted[], maxPoints: number): string[] {
  const [first] = changed;
  if (first === undefined) return [];
  const sum = (extents: readonly number[]) => extents.reduce((total, extent) => total + extent, 0);
  const before = sum(changed.map(({ ring }) => extentOf(ring)));
  const after = sum(changed.map(({ area }) => extentOf(area.boundary)));
  const percent = ((after / before - 1) * 100).toFixed(1);
  const which =
    changed.length > 1
      ? `${changed.length} polygons are simplified to at most ${maxPoints} points`
      : `Simplified from ${first.ring.length} to ${first.area.boundary.length} points`;
  const sign = Number(percent) > 0 ? "+" : "";
  return [
    `${which}, which changes the size by ${sign}${percent.replace("-", "−")} %: the dotted line is what was given.`,
  ];
}

/** A ring without the last point if that repeats the first, and without points that repeat the one before. */
function openRing(ring: readonly Point[]): readonly Point[] {
  return ring.filter(({ latitude, longitude }, index) => {
    const next = ring[(index + 1) % ring.length];
    return ring.length === 1 || latitude !== next?.latitude || longitude !== next.longitude;
  });
}

/** The largest rings, in their order. */
function largest(rings: readonly (readonly Point[])[]): readonly (readonly Point[])[] {
  if (rings.length <= maxAreas) return rings;
  const sorted = rings.toSorted((one, other) => extentOf(other) - extentOf(one));
  const chosen = new Set(sorted.slice(0, maxAreas));
  return rings.filter((ring) => chosen.has(ring));
}
