/** A rectangle on the screen, in pixels. */
export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

type Size = Pick<Rectangle, "width" | "height">;

/** Between a card and what it is about, and between a card and the edge of the stage. */
const gap = 12;

/**
 * Where a card has its upper left corner, in a stage: to the right of a thing, or to its left, below it or above it,
 * wherever there is room first. A thing that leaves no room is covered at the right edge.
 */
export function beside(
  thing: Rectangle,
  card: Size,
  stage: Size,
): { readonly left: number; readonly top: number } {
  const [right, bottom] = [thing.left + thing.width + gap, thing.top + thing.height + gap];
  const [lastLeft, lastTop] = [stage.width - card.width - gap, stage.height - card.height - gap];
  const left = within(thing.left + thing.width / 2 - card.width / 2, lastLeft);
  const top = within(thing.top + thing.height / 2 - card.height / 2, lastTop);
  if (right <= lastLeft) return { left: Math.max(gap, right), top };
  if (thing.left - gap - card.width >= gap)
    return { left: Math.min(lastLeft, thing.left - gap - card.width), top };
  if (bottom <= lastTop) return { left, top: Math.max(gap, bottom) };
  if (thing.top - gap - card.height >= gap)
    return { left, top: Math.min(lastTop, thing.top - gap - card.height) };
  return { left: lastLeft, top: gap };
}

function within(value: number, last: number): number {
  return Math.max(gap, Math.min(value, last));
}
