import { html } from "../base/dom.ts";
import { apiUrl } from "../base/http.ts";
import { codeCard } from "./code-card.ts";

/** The text of `tools/demo/subscriber-token.mjs`; `tools/build-console.ts` sets it. */
declare const tokenProgram: string;

/** Creates the card with the program by which a client gets a subscriber's token at this service. */
export function tokenCard(label: string): HTMLElement {
  const card = codeCard(label, html("span", {}, "A 3-legged token, in JavaScript"));
  card.show(tokenProgram.trim().replaceAll("http://127.0.0.1:3000", apiUrl("").replace(/\/$/, "")));
  return card.element;
}
