/** A rectangle on the screen, in pixels. */
export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

type Size = Pick<Rectangle, "width" | "height">;
type Corner = Pick<Rectangle, "left" | "top">;

/** Between a card and what it is about, and between a card and the edge of the stage. */
const gap = 12;

/**
 * Where a card has its upper left corner, in a stage: to the right of a thing, or to its left, below it or above it,
 * wherever there is room first. A thing outside of the stage counts as one at its edge.
 * @param others what the card must not cover either
 * @returns undefined if there is no room beside the thing.
 */
export function beside(
  thing: Rectangle,
  card: Size,
  stage: Size,
  others: readonly Rectangle[] = [],
): Corner | undefined {
  const shown = {
    ...thing,
    left: Math.max(-thing.width, Math.min(thing.left, stage.width)),
    top: Math.max(-thing.height, Math.min(thing.top, stage.height)),
  };
  const inStage = { left: gap, top: gap, width: stage.width - 2 * gap, height: stage.height - 2 * gap };
  return cornersBeside(shown, card, stage, others).find((corner) => {
    const place = { ...corner, ...card };
    return isWithin(place, inStage) && [shown, ...others].every((one) => !overlap(place, one));
  });
}

/** The corners of a card that touches a thing: in the middle of a side or, where that is taken, past the others. */
function cornersBeside(thing: Rectangle, card: Size, stage: Size, others: readonly Rectangle[]): Corner[] {
  const aboveOrBelow = others.flatMap(({ top, height }) => [top - gap - card.height, top + height + gap]);
  const leftOrRight = others.flatMap(({ left, width }) => [left - gap - card.width, left + width + gap]);
  const tops = places(thing.top, thing.height, card.height, stage.height, aboveOrBelow);
  const lefts = places(thing.left, thing.width, card.width, stage.width, leftOrRight);
  return [
    ...tops.map((top) => ({ left: thing.left + thing.width + gap, top })),
    ...tops.map((top) => ({ left: thing.left - gap - card.width, top })),
    ...lefts.map((left) => ({ left, top: thing.top + thing.height + gap })),
    ...lefts.map((left) => ({ left, top: thing.top - gap - card.height })),
  ];
}

/** Where a card begins along a side of a thing: in its middle, as far as the stage allows, or at other places. */
function places(start: number, length: number, size: number, stage: number, others: readonly number[]) {
  const middle = Math.min(start + length / 2 - size / 2, stage - size - gap);
  const isAlong = (place: number) => place <= start + length + gap && place + size + gap >= start;
  return [Math.max(gap, middle), ...others].filter(isAlong);
}

function isWithin(one: Rectangle, other: Rectangle): boolean {
  return (
    one.left >= other.left &&
    one.top >= other.top &&
    one.left + one.width <= other.left + other.width &&
    one.top + one.height <= other.top + other.height
  );
}

function overlap(one: Rectangle, other: Rectangle): boolean {
  return (
    one.left < other.left + other.width &&
    other.left < one.left + one.width &&
    one.top < other.top + other.height &&
    other.top < one.top + one.height
  );
}
