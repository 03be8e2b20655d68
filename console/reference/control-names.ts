/** Gives controls of Swagger UI names, and a place in the order of the keyboard, where it gives them none. */
export function nameControls(root: HTMLElement): void {
  const name = () => {
    for (const [selector, label] of Object.entries(labels)) {
      for (const control of root.querySelectorAll(`${selector}:not([aria-label])`)) {
        control.setAttribute("aria-label", label);
      }
    }
    // A box that scrolls can be reached, and is read with a name.
    for (const box of root.querySelectorAll(
      "pre.microlight:not([tabindex]), .highlight-code > *:not([tabindex])",
    )) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Code");
    }
  };
  new MutationObserver(name).observe(root, { childList: true, subtree: true });
  name();
}

const labels: Readonly<Record<string, string>> = {
  "#servers": "Server",
  "select.examples-select-element": "Example",
  "select.content-type": "Media type",
  "textarea.body-param__text": "Body",
  "select:not(#servers, .examples-select-element, .content-type)": "Value",
};
