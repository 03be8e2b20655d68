/**
 * The reference: the API's document in three columns, with programs that have the token of the page's login, all by the
 * page's own elements and style sheet, so that its policy needs no exception.
 */
import { Asking } from "../base/asking.ts";
import { element, html } from "../base/dom.ts";
import { apiUrl } from "../base/http.ts";
import { onLoginChange } from "../base/session.ts";
import { fetchWhole, successful } from "../base/whole-answer.ts";
import { choice } from "./choice.ts";
import { codeCard } from "./code-card.ts";
import { contents, followScrolling } from "./contents.ts";
import { type ApiDocument, type Group, groupsOf } from "./document.ts";
import { formsSection } from "./forms.ts";
import { openingSections } from "./opening.ts";
import { operationView } from "./operation-view.ts";
import { prose } from "./prose.ts";
import type { SharedChoices } from "./request-card.ts";
import { titled } from "./titled.ts";

/** Shows the reference. */
export async function showReference(): Promise<void> {
  const place = element("reference");
  const asking = new Asking();
  place.replaceChildren(html("div", { class: "message" }, asking.element));
  const document = await asking.ask({ ask: readDocument, text: "Reading the reference…" });
  if (document === undefined) return;
  const groups = groupsOf(document);
  const choices: SharedChoices = { language: choice("curl"), known: choice({}) };
  const forms = formsSection(document, groups, choices.known);
  const opening = openingSections(document, groups).toSpliced(1, 0, forms);
  onLoginChange((login) => {
    if (login === undefined) choices.known.set({});
  });
  const text = html("div", { class: "entries" }, ...opening.map((section) => section.element));
  const index = contents(opening, groups);
  place.replaceChildren(index, text);
  // People read the opening while the rest is made.
  await nextFrame();
  text.append(
    ...groups.flatMap((group) => [
      groupView(group),
      ...group.endpoints.map((endpoint) => operationView(document, endpoint, choices)),
    ]),
  );
  followScrolling(index, text);
  // The browser looked for it before there was one.
  if (location.hash !== "") globalThis.document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

/** Waits until the browser has drawn what there is. */
async function nextFrame(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Reads the OpenAPI document without aliases. */
async function readDocument(signal: AbortSignal): Promise<ApiDocument> {
  const answer = await fetchWhole(apiUrl("openapi.json?aliases=false"), { credentials: "omit", signal });
  return successful(answer).json as ApiDocument;
}

/** The heading of an area, with the addresses of its operations. */
function groupView({ name, title, description, endpoints }: Group): HTMLElement {
  const card = codeCard(`Operations: ${title}`, html("span", {}, "Operations"));
  card.show(endpoints.map(({ method, path }) => `${method.padEnd(6)} ${path}`).join("\n"));
  return html(
    "section",
    { class: "entry group", id: name },
    html("div", { class: "about" }, titled("h2", name, title), ...prose(description)),
    html("div", { class: "samples" }, card.element),
  );
}
