/** The tooltip: what is under the pointer, said next to it. Screen readers get the same from what it is about. */
import { html } from "./dom.ts";

const gap = 14;

let tooltip: HTMLElement | undefined;

/** Shows lines next to a place in the window, the first one large. */
export function showTooltip(x: number, y: number, [first = "", ...others]: readonly string[]): void {
  if (tooltip === undefined) {
    tooltip = html("div", { class: "card tooltip", "aria-hidden": "true" });
    document.body.append(tooltip);
  }
  tooltip.replaceChildren(
    html("strong", {}, first),
    ...others.filter((line) => line !== "").map((line) => html("span", {}, line)),
  );
  tooltip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const card = document.querySelector(".cell")?.getBoundingClientRect();
  const [lefts, tops] = [
    [x + gap, x - gap - width],
    [y + gap, y - gap - height],
  ];
  const place = tops
    .flatMap((top) => lefts.map((left) => ({ left, top, right: left + width, bottom: top + height })))
    .find((one) => isInWindow(one) && (card === undefined || !overlap(one, card)));
  // Next to a cell at the card there may be no room: the card says more.
  tooltip.hidden = place === undefined;
  if (place === undefined) return;
  tooltip.style.left = `${place.left}px`;
  tooltip.style.top = `${place.top}px`;
}

type Edges = Pick<DOMRect, "left" | "top" | "right" | "bottom">;

function isInWindow({ left, top, right, bottom }: Edges): boolean {
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}

function overlap(one: Edges, other: Edges): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** Hides the tooltip. */
export function hideTooltip(): void {
  if (tooltip !== undefined) tooltip.hidden = true;
}
