import { type MarkedToken, marked, type Token } from "marked";
import { html } from "../base/dom.ts";

/** The elements of a Markdown text: paragraphs, lists, tables, headings and code; anything else is shown as written. */
export function prose(markdown: string): readonly (Node | string)[] {
  return marked.lexer(markdown).map(nodeOf);
}

function nodeOf(token: Token): Node | string {
  const known = token as MarkedToken;
  switch (known.type) {
    case "paragraph":
      return html("p", {}, ...inline(known.tokens));
    case "heading":
      return html("h2", {}, ...inline(known.tokens));
    case "list":
      return html(
        "ul",
        { class: "bullets" },
        ...known.items.map(({ tokens }) => html("li", {}, ...inline(tokens))),
      );
    case "table":
      return html(
        "div",
        { class: "scrolling", tabindex: 0, role: "group", "aria-label": "Table" },
        html(
          "table",
          {},
          html(
            "thead",
            {},
            html(
              "tr",
              {},
              ...known.header.map(({ tokens }) => html("th", { scope: "col" }, ...inline(tokens))),
            ),
          ),
          html(
            "tbody",
            {},
            ...known.rows.map((row) =>
              html("tr", {}, ...row.map(({ tokens }) => html("td", {}, ...inline(tokens)))),
            ),
          ),
        ),
      );
    case "text":
      return known.tokens === undefined ? known.text : html("span", {}, ...inline(known.tokens));
    case "codespan":
      return html("code", {}, known.text);
    case "space":
      return "";
    default:
      return token.raw;
  }
}

function inline(tokens: readonly Token[]): readonly (Node | string)[] {
  return tokens.map(nodeOf);
}
