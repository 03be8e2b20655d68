/** Names for Swagger UI's controls without an accessible name. */
const names: Readonly<Record<string, string>> = {
  "#servers": "Server",
  "select.examples-select-element": "Example",
  "select.content-type": "Media type",
  "textarea.body-param__text": "Body",
  "select:not(#servers, .examples-select-element, .content-type)": "Value",
};

/** Boxes that scroll, which only become reachable by the keyboard with a `tabindex`. */
const scrolling = "pre.microlight:not([tabindex]), .highlight-code > *:not([tabindex])";

/** Makes Swagger UI accessible: whenever it renders, names its controls and makes all of it reachable by keyboard. */
export function nameControls(root: HTMLElement): void {
  const name = () => {
    for (const [selector, label] of Object.entries(names)) {
      for (const control of root.querySelectorAll(`${selector}:not([aria-label])`)) {
        control.setAttribute("aria-label", label);
      }
    }
    for (const box of root.querySelectorAll(scrolling)) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Code");
    }
  };
  new MutationObserver(name).observe(root, { childList: true, subtree: true });
  name();
}
