/** The attributes of an element; functions listen to the event of their name, `false` and `undefined` set nothing. */
type Attributes = Readonly<
  Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>
>;

type Child = Node | string | undefined | false;

/** Makes an HTML element. Text is never read as markup. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

/**
 * An element of the page.
 * @throws {Error} when the page has none with the id.
 */
export function element<Kind extends Element = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Element as Kind;
}

/** Says something to those who hear the page instead of seeing it. */
export function announce(text: string): void {
  element("status").textContent = text;
}

/** Saves a text as a file. */
export function save(name: string, text: Blob): void {
  const href = URL.createObjectURL(text);
  html("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
