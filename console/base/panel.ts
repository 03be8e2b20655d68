import { html } from "./dom.ts";

interface PanelOptions {
  readonly isOpen?: boolean;
  /** Names the panel for its style, where it has one of its own. */
  readonly name?: string;
  /** Called whenever the panel is opened. */
  readonly onOpen?: () => void;
}

/** A part of the page that is folded into its title: all panels look and behave alike. */
export function panel(
  title: string,
  { isOpen = false, name, onOpen }: PanelOptions,
  ...children: readonly (Node | string | undefined | false)[]
): HTMLDetailsElement {
  const details = html(
    "details",
    { class: name === undefined ? "panel" : `panel ${name}`, open: isOpen },
    html("summary", {}, title),
    html("div", { class: "panel-body" }, ...children),
  );
  if (onOpen !== undefined) details.addEventListener("toggle", () => details.open && onOpen());
  return details;
}
