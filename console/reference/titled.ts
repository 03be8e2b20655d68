import { html } from "../base/dom.ts";

/** A heading with a link to its section, whose id is given. */
export function titled(level: "h2" | "h3", id: string, title: string): HTMLElement {
  return html(
    "div",
    { class: "titled" },
    html(level, { id: `${id}-title` }, title),
    html("a", { class: "anchor", href: addressOf(id), "aria-label": `Link to ${title}` }, "#"),
  );
}

/** The address of a section of the reference, relative to the stage. */
export function addressOf(id: string): string {
  return `reference#${id}`;
}
