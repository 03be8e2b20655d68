import { copyText } from "../base/copy.ts";
import { html } from "../base/dom.ts";
import { highlighted } from "./highlight.ts";

/** A card with a heading and a text to copy: a program, or a body. */
export interface CodeCard {
  readonly element: HTMLElement;
  readonly text: HTMLElement;
  /** Replaces the text. */
  readonly show: (text: string, secret?: string) => void;
}

/** Creates a card; what stands in its heading next to the button to copy is given. */
export function codeCard(label: string, ...heading: readonly (Node | string)[]): CodeCard {
  const code = html("code");
  const text = html("pre", { tabindex: 0, role: "group", "aria-label": label }, code);
  const copy = html("button", { type: "button", class: "copy", "aria-label": `Copy: ${label}` }, "Copy");
  copy.addEventListener("click", async () => {
    copy.textContent = await copyText(code);
    setTimeout(() => copy.replaceChildren("Copy"), 2_000);
  });
  return {
    element: html("div", { class: "sample" }, html("div", { class: "sample-head" }, ...heading, copy), text),
    text,
    show: (shown, secret) => code.replaceChildren(...highlighted(shown, secret)),
  };
}
