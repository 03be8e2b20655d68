/** The index of the reference, with its search. */
import { announce, html } from "../base/dom.ts";
import type { Group } from "./document.ts";
import { methodBadge } from "./method-badge.ts";
import type { OpeningSection } from "./opening.ts";
import { markWords, unfoldFirstMark } from "./search-marks.ts";
import { addressOf } from "./titled.ts";

/** On narrower windows the index is folded, and stands above the text. */
const wide = matchMedia("(min-width: 760px)");

/** Creates the index. */
export function contents(opening: readonly OpeningSection[], groups: readonly Group[]): HTMLElement {
  const lists = [
    html("ul", {}, ...opening.map(({ id, title }) => html("li", {}, link(id, title)))),
    ...groups.map(({ name, title, endpoints }) =>
      html(
        "div",
        { role: "group", "aria-labelledby": `contents-${name}` },
        html("p", { class: "group-name", id: `contents-${name}` }, link(name, title)),
        html(
          "ul",
          {},
          ...endpoints.map(({ method, operation: { operationId, summary } }) =>
            html("li", {}, link(operationId, summary, methodBadge(method))),
          ),
        ),
      ),
    ),
  ];
  const nothing = html("p", { class: "note", hidden: true }, "Nothing has these words.");
  const list = html("div", { class: "contents-list" }, ...lists, nothing);
  const search = searchField(list, nothing);
  const details = html(
    "details",
    { class: "contents" },
    html("summary", {}, "Contents"),
    html("nav", { "aria-label": "Contents" }, search, list),
  );
  const fold = () => {
    details.open = wide.matches;
  };
  wide.addEventListener("change", fold);
  fold();
  list.addEventListener("click", ({ target }) => {
    if (!wide.matches && target instanceof Element && target.closest("a") !== null) details.open = false;
  });
  return details;
}

function link(id: string, title: string, ...before: readonly Node[]): HTMLElement {
  return html("a", { href: addressOf(id), "data-section": id }, ...before, html("span", {}, title));
}

/** A field that shows the links to the sections with all words, wherever in the section they are. */
function searchField(list: HTMLElement, nothing: HTMLElement): HTMLElement {
  const links = [...list.querySelectorAll<HTMLAnchorElement>("a[data-section]")];
  const shown = () => links.filter((one) => one.closest("[hidden]") === null);
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of links) {
      const isFound = words.length === 0 || words.every((word) => textOf(one).includes(word));
      const item = one.closest<HTMLElement>("li, .group-name");
      if (item !== null) item.hidden = !isFound;
    }
    const found = shown();
    const count = found.length;
    markWords([...found, ...found.flatMap((one) => sectionOf(one) ?? [])], words);
    nothing.hidden = count > 0;
    if (words.length > 0) announce(`${count} found.`);
  };
  const move = (event: KeyboardEvent, from: number) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = shown()[from + by];
    if (next !== undefined) next.focus();
    else if (by < 0) input.focus();
  };
  const input = html("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search the reference",
    "aria-keyshortcuts": "/",
    input: filter,
    keydown: (event) => {
      const { key } = event as KeyboardEvent;
      if (key === "Enter") shown()[0]?.click();
      else move(event as KeyboardEvent, -1);
    },
  });
  list.addEventListener("click", ({ target }) => {
    const section = target instanceof Element ? sectionOf(target.closest("a")) : null;
    if (section !== null) unfoldFirstMark(section);
  });
  list.addEventListener("keydown", (event) => {
    move(event, shown().indexOf(document.activeElement as HTMLAnchorElement));
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
    if (event.key !== "/" || isTyping || document.body.dataset.view !== "reference") return;
    event.preventDefault();
    input.closest("details")?.setAttribute("open", "");
    input.focus();
  });
  return html("div", { class: "search" }, input, html("kbd", { "aria-hidden": "true" }, "/"));
}

/** What a search for a link looks through: its section, and its own words first. */
function textOf(one: HTMLAnchorElement): string {
  const section = sectionOf(one);
  return `${one.textContent} ${section?.id} ${section?.textContent}`.toLowerCase();
}

function sectionOf(link: HTMLElement | null): HTMLElement | null {
  return document.getElementById(link?.dataset.section ?? "");
}

/**
 * Marks the link to the section that is being read.
 * @param index what {@link contents} has created.
 * @param text the sections.
 */
export function followScrolling(index: HTMLElement, text: HTMLElement): void {
  const linkTo = (section: Element) => index.querySelector(`a[data-section="${section.id}"]`);
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        index.querySelector("a[aria-current]")?.removeAttribute("aria-current");
        const current = linkTo(target);
        current?.setAttribute("aria-current", "location");
        if (wide.matches) current?.scrollIntoView({ block: "nearest" });
      }
    },
    // A line in the upper part of the window.
    { rootMargin: "-20% 0px -80% 0px" },
  );
  for (const section of text.querySelectorAll("section[id]")) observer.observe(section);
}
