/** A finite double without loss: `integer` · 2^−`places`. */
interface Dyadic {
  readonly integer: bigint;
  readonly places: number;
}

function dyadicOf(value: number): Dyadic {
  let integer = value;
  let places = 0;
  // Doubling a double loses nothing, and one of 2^53 or more is an integer.
  for (; !Number.isInteger(integer); places++) integer *= 2;
  return { integer: BigInt(integer), places };
}

/** How many binary places after the point a finite double has: 0 for an integer, at most 1074. */
export function binaryPlaces(value: number): number {
  return dyadicOf(value).places;
}

/**
 * A finite double as an exact integer of units of 2^−places.
 * @throws RangeError if it has more binary places than that.
 */
export function inUnits(value: number, places: number): bigint {
  const { integer, places: own } = dyadicOf(value);
  if (own > places) throw new RangeError(`${value} has ${own} binary places, more than ${places}`);
  return integer << BigInt(places - own);
}

/** The sign of an exact integer: −1, 0 or 1. */
export function signOf(value: bigint): number {
  return value > 0n ? 1 : value < 0n ? -1 : 0;
}

/**
 * Where a quotient lies between the whole numbers, in half steps: 2k for the whole number k, 2k + 1 for anything
 * between k and k + 1.
 * @param divisor above 0.
 */
export function halfStepsOf(dividend: bigint, divisor: bigint): number {
  const cut = dividend / divisor;
  const rest = dividend - cut * divisor;
  const steps = 2 * Number(cut);
  return rest === 0n ? steps : rest > 0n ? steps + 1 : steps - 1;
}
