/**
 * Attributes of an element. A function is a listener for the event of that name, `true` sets an attribute without a
 * value, and `false` and `undefined` set nothing.
 */
type Attributes = Readonly<
  Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>
>;

type Child = Node | string | undefined | false;

/** Creates an HTML element. Text is never parsed as markup. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

/** Creates a button that calls a listener, and sends no form. */
export function buttonTo(
  text: string | undefined,
  click: (event: Event) => unknown,
  attributes: Attributes = {},
): HTMLButtonElement {
  return html("button", { type: "button", click, ...attributes }, text);
}

/** Links to places of the page, with commas between them. */
export function linksTo(
  places: readonly { readonly name: string; readonly href: string }[],
): (Node | string)[] {
  const links = places.map(({ name, href }) => html("a", { href }, name));
  return links.flatMap((link, index) => (index === 0 ? [link] : [", ", link]));
}

/**
 * Finds an element of `index.html` by its id.
 * @throws {Error} if the page has none.
 */
export function element<Kind extends Element = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Element as Kind;
}

/** How long announced text stays: later, somebody who reads the page would find it out of date. */
const announcementMilliseconds = 5_000;

let announcement: ReturnType<typeof setTimeout> | undefined;

/** Announces text to screen readers. */
export function announce(text: string): void {
  const status = element("status");
  status.textContent = text;
  clearTimeout(announcement);
  announcement = setTimeout(() => status.replaceChildren(), announcementMilliseconds);
}

/** Downloads content as a file. */
export function saveFile(name: string, content: Blob): void {
  const href = URL.createObjectURL(content);
  html("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
