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
  const left = x + gap + width > innerWidth ? x - gap - width : x + gap;
  const top = y + gap + height > innerHeight ? y - gap - height : y + gap;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}

/** Hides the tooltip. */
export function hideTooltip(): void {
  if (tooltip !== undefined) tooltip.hidden = true;
}
