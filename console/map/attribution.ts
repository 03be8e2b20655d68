/** Whose the operator's map is, as its sources say: markup of a foreign host, of which text and links reach the page. */
import type { IControl, Map as MapLibreMap, MapSourceDataEvent } from "maplibre-gl";
import { html } from "../base/dom.ts";

/**
 * Names the sources of a map upon it, wherever they say it: in the style, in TileJSON, or in an archive. The control of
 * MapLibre would let images, classes and links into the page as well.
 */
export function attributionControl(): IControl {
  const named = html("div", { class: "maplibregl-ctrl-attrib-inner" });
  const element = html(
    "details",
    { class: "maplibregl-ctrl maplibregl-ctrl-attrib maplibregl-compact", open: true },
    html("summary", { class: "maplibregl-ctrl-attrib-button", "aria-label": "Sources of the map" }),
    named,
  );
  const fold = () => element.classList.toggle("maplibregl-compact-show", element.open);
  element.addEventListener("toggle", fold);
  const close = () => {
    element.open = false;
  };
  const markups = new Map<string, string>();
  const add = ({ sourceDataType, sourceId, target }: MapSourceDataEvent) => {
    if (sourceDataType !== "metadata") return;
    // TileJSON may have anything there.
    const markup: unknown = (target as MapLibreMap).getSource(sourceId)?.attribution;
    if (typeof markup !== "string" || markups.get(sourceId) === markup) return;
    markups.set(sourceId, markup);
    const parts = [...new Set(markups.values())].map(textAndLinks).filter((part) => part.length > 0);
    named.replaceChildren(...parts.flatMap((part, index) => (index === 0 ? part : [" | ", ...part])));
    element.hidden = parts.length === 0;
  };
  return {
    onAdd: (map) => {
      element.hidden = true;
      fold();
      map.on("sourcedata", add);
      map.on("drag", close);
      return element;
    },
    onRemove: (map) => {
      map.off("sourcedata", add);
      map.off("drag", close);
      element.remove();
    },
  };
}

/** The text of markup, with its links to web addresses. It is parsed in a document that loads and runs nothing. */
function textAndLinks(markup: string): (string | HTMLAnchorElement)[] {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const texts = parsed.createTreeWalker(parsed, NodeFilter.SHOW_TEXT);
  const parts: (string | HTMLAnchorElement)[] = [];
  let last: { readonly source: Element; readonly link: HTMLAnchorElement } | undefined;
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const words = text.nodeValue ?? "";
    const source = closest(text, "a[href]");
    const href = webAddress(source?.getAttribute("href") ?? "");
    if (closest(text, "script, style") !== null) continue;
    if (source === null || href === undefined) parts.push(words);
    else if (source === last?.source) last.link.append(words);
    else {
      last = { source, link: html("a", { href, target: "_blank", rel: "noopener noreferrer" }, words) };
      parts.push(last.link);
    }
  }
  return parts.some((part) => typeof part !== "string" || part.trim() !== "") ? parts : [];
}

/** The closest element around a text. A form's own `closest` could be a field of that name in it. */
function closest({ parentElement }: Node, selector: string): Element | null {
  return parentElement && Element.prototype.closest.call(parentElement, selector);
}

/** An address that leads to the web; undefined for any other, such as `javascript:`. Safari 16 has no `URL.canParse`. */
function webAddress(href: string): string | undefined {
  if (!/^https?:\/\/\S+$/i.test(href)) return undefined;
  return Object.assign(document.createElement("a"), { href }).href;
}
