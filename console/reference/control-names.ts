/** Names for Swagger UI's controls without an accessible name. */
const names: Readonly<Record<string, string>> = {
  "#servers": "Server",
  "select.examples-select-element": "Example",
  "select.content-type": "Media type",
  "textarea.body-param__text": "Body",
  "select:not(#servers, .examples-select-element, .content-type)": "Value",
};

/** Names for its scrolling boxes, which need a `tabindex` to be reachable by keyboard. */
const scrolling: Readonly<Record<string, string>> = {
  ":is(pre.microlight, .highlight-code > *)": "Code",
  ".info__description": "About the service",
};

/** Makes Swagger UI accessible: whenever it renders, names its controls and makes all of it reachable by keyboard. */
export function nameControls(root: HTMLElement): void {
  const name = () => {
    for (const [selector, label] of Object.entries(names)) {
      for (const control of root.querySelectorAll(`${selector}:not([aria-label])`)) {
        control.setAttribute("aria-label", label);
      }
    }
    for (const [selector, label] of Object.entries(scrolling)) {
      for (const box of root.querySelectorAll(`${selector}:not([tabindex])`)) {
        box.setAttribute("tabindex", "0");
        box.setAttribute("role", "region");
        box.setAttribute("aria-label", label);
      }
    }
  };
  new MutationObserver(name).observe(root, { childList: true, subtree: true });
  name();
}
