import { buttonTo, html } from "../base/dom.ts";

let count = 0;

/** Tabs above a panel, chosen by the mouse or by the arrow keys. */
export interface Tabs {
  readonly element: HTMLElement;
  /** Shows a tab as the chosen one, without calling the listener. */
  readonly choose: (name: string) => void;
}

/**
 * Creates tabs for a panel.
 * @param listener is called with the name of the tab that somebody chooses.
 */
export function tabs(
  label: string,
  names: readonly string[],
  panel: HTMLElement,
  listener: (name: string) => void,
): Tabs {
  count += 1;
  panel.id = `panel-${count}`;
  panel.setAttribute("role", "tabpanel");
  const buttons = names.map((name, index) =>
    buttonTo(name, () => listener(name), {
      role: "tab",
      id: `${panel.id}-tab-${index}`,
      "aria-controls": panel.id,
    }),
  );
  const step = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };
    const by = steps[event.key];
    if (by === undefined) return;
    const focused = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = buttons.at((focused + by) % buttons.length);
    next?.focus();
    next?.click();
  };
  return {
    element: html(
      "div",
      {
        class: "tabs",
        role: "tablist",
        "aria-label": label,
        keydown: (event) => step(event as KeyboardEvent),
      },
      ...buttons,
    ),
    choose: (name) => {
      for (const button of buttons) {
        const isChosen = button.textContent === name;
        button.setAttribute("aria-selected", String(isChosen));
        button.tabIndex = isChosen ? 0 : -1;
        if (isChosen) panel.setAttribute("aria-labelledby", button.id);
      }
    },
  };
}
