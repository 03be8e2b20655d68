// Arrays of numbers with the same bytes are equal. Vitest compares them element by element, as objects, which takes
// seconds for those of a tile or an answer; it still does so for those that differ, and tells where.
import { expect } from "vitest";

const thread = globalThis as typeof globalThis & { hasNumbersTester?: true };
if (thread.hasNumbersTester === undefined) expect.addEqualityTesters([haveSameBytes]);
thread.hasNumbersTester = true;

function haveSameBytes(one: unknown, other: unknown): true | undefined {
  if (!ArrayBuffer.isView(one) || !ArrayBuffer.isView(other)) return undefined;
  if (one.constructor !== other.constructor || one.byteLength !== other.byteLength) return undefined;
  return bytesOf(one).equals(bytesOf(other)) || undefined;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
