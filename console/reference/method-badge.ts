import { html } from "../base/dom.ts";

/** The method of an operation, in its colour. */
export function methodBadge(method: string): HTMLElement {
  return html("span", { class: `method ${method.toLowerCase()}` }, method === "DELETE" ? "DEL" : method);
}
