/**
 * The parts of a day. The cells that an import is the first to cover on a day form a part permanently: a part is
 * published again only by an import that covers all of it, and never together with other cells. So an import with more
 * or fewer cells than an earlier one, or of a neighbouring region, changes no group of suppressed cells, and the
 * difference between two answers discloses no more than each part does by itself.
 */

import { createHash } from "node:crypto";
import { suffixesOf } from "../cover/geohash.ts";
import { addToCoverage, coverageBytes, isCovered } from "../tiles/tile.ts";
import { cellsPerTile } from "../tiles/tile-hour.ts";
import type { CountedTile } from "./counted.ts";
import { childrenOf, type TilePart } from "./tile-pyramid.ts";

/** Cells of one precision: by the geohash of each tile that has any, its coverage as `encodeTileDay` takes it. */
export type Coverage = ReadonlyMap<string, Uint8Array>;

/** A published part of a day. */
export interface Part {
  readonly id: string;
  /** The precision of its cells. */
  readonly precision: number;
  readonly coverage: Coverage;
}

/** How an import affects the parts of a day. */
export interface Division {
  /** Parts that are covered completely; they are published again. */
  readonly renewed: readonly Part[];
  /** A new part with the covered cells that no part has yet, if any. */
  readonly created: Part | undefined;
  /** Covered cells of parts that are not covered completely; they stay as published. */
  readonly kept: Coverage;
  /** The cells of a tile to be published, by part. */
  readonly partsIn: (tile: Pick<CountedTile, "geohash">) => readonly TilePart[];
}

/** Divides the coverage of an import by the parts of the same precision that the day already has. */
export function divide(covered: Coverage, precision: number, parts: readonly Part[]): Division {
  const renewed = parts.filter(({ coverage }) => isWithin(coverage, covered));
  const partsOfTile = new Map<string, TilePart[]>();
  const kept = new Map<string, Uint8Array>();
  const rest = new Map<string, Uint8Array>();
  for (const [geohash, coverage] of covered) {
    const ofTile: TilePart[] = [];
    const left = new Uint8Array(coverage);
    for (const part of parts) {
      const ofPart = part.coverage.get(geohash);
      if (ofPart === undefined) continue;
      if (renewed.includes(part)) ofTile.push({ part: part.id, coverage: ofPart });
      for (let index = 0; index < coverageBytes; index++) {
        const both = byteOf(coverage, index) & byteOf(ofPart, index);
        left[index] = byteOf(left, index) & ~both;
        if (both === 0 || renewed.includes(part)) continue;
        const bits = kept.get(geohash) ?? new Uint8Array(coverageBytes);
        bits[index] = byteOf(bits, index) | both;
        kept.set(geohash, bits);
      }
    }
    if (left.some((bits) => bits !== 0)) rest.set(geohash, left);
    partsOfTile.set(geohash, ofTile);
  }
  const created = rest.size === 0 ? undefined : { id: partId(rest, precision), precision, coverage: rest };
  if (created !== undefined) {
    for (const [geohash, coverage] of rest) partsOfTile.get(geohash)?.push({ part: created.id, coverage });
  }
  return { renewed, created, kept, partsIn: ({ geohash }) => partsOfTile.get(geohash) ?? [] };
}

/** Whether two parts overlap, even with different precisions. */
export function overlap(one: Omit<Part, "id">, other: Omit<Part, "id">): boolean {
  const [coarse, fine] = one.precision <= other.precision ? [one, other] : [other, one];
  for (const [geohash, coverage] of fine.coverage) {
    if (fine.precision === coarse.precision) {
      const here = coarse.coverage.get(geohash);
      if (here?.some((bits, index) => (bits & byteOf(coverage, index)) !== 0)) return true;
    } else if (fine.precision - coarse.precision >= 2) {
      if (hasCell(coarse, geohash.slice(0, coarse.precision))) return true;
    } else {
      for (const [parent, character] of suffixesOf(1).entries()) {
        if (childrenOf(coverage, parent).length > 0 && hasCell(coarse, geohash + character)) return true;
      }
    }
  }
  return false;
}

function hasCell({ coverage }: Pick<Part, "coverage">, geohash: string): boolean {
  const tile = coverage.get(geohash.slice(0, -2));
  return tile !== undefined && isCovered(tile, suffixesOf(2).indexOf(geohash.slice(-2)));
}

function isWithin(part: Coverage, covered: Coverage): boolean {
  for (const [geohash, coverage] of part) {
    const here = covered.get(geohash);
    if (here === undefined) return false;
    for (let index = 0; index < coverageBytes; index++) {
      if ((byteOf(coverage, index) & ~byteOf(here, index)) !== 0) return false;
    }
  }
  return true;
}

function byteOf(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

const idLength = 16;

/** The id of a part is derived from its cells, so that no two parts of a day have the same. */
function partId(coverage: Coverage, precision: number): string {
  return createHash("sha256")
    .update(`${precision}\n`)
    .update(encodeCoverage(coverage))
    .digest("hex")
    .slice(0, idLength);
}

/** Encodes geohashes of one length in ascending order, each followed by its coverage. */
export function encodeCoverage(coverage: Coverage): Uint8Array {
  const tiles = [...coverage].sort(([one], [other]) => (one < other ? -1 : 1));
  const [first = ""] = tiles[0] ?? [];
  const each = first.length + coverageBytes;
  const bytes = Buffer.alloc(each * tiles.length);
  for (const [index, [geohash, bits]] of tiles.entries()) {
    bytes.write(geohash, index * each, "latin1");
    bytes.set(bits, index * each + first.length);
  }
  return bytes;
}

/** @param precision the precision of the cells. */
export function decodeCoverage(bytes: Uint8Array, precision: number): Coverage {
  const length = Math.max(0, precision - 2);
  const each = length + coverageBytes;
  if (bytes.length % each !== 0) throw new Error("the cells of a part have a wrong length");
  const coverage = new Map<string, Uint8Array>();
  for (let at = 0; at < bytes.length; at += each) {
    const geohash = Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString("latin1");
    // Copied explicitly, because `slice` of a Buffer does not copy.
    coverage.set(geohash, new Uint8Array(bytes.subarray(at + length, at + each)));
  }
  return coverage;
}

/** The union of two coverages. */
export function union(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one);
  for (let index = 0; index < both.length; index++) both[index] = byteOf(one, index) | byteOf(other, index);
  return both;
}

/** A coverage of single cells. */
export function coverageOf(cells: Iterable<number>): Uint8Array {
  const coverage = new Uint8Array(coverageBytes);
  for (const cell of cells) addToCoverage(coverage, cell);
  return coverage;
}

/** The cells of a coverage, in ascending order. */
export function cellsIn(coverage: Uint8Array): number[] {
  const cells: number[] = [];
  for (let cell = 0; cell < cellsPerTile; cell++) if (isCovered(coverage, cell)) cells.push(cell);
  return cells;
}
