/** Shows a JSON answer as a table or a list: a list as a table, an object as its members in words. */
import { html } from "../base/dom.ts";
import { wordsOf } from "./value-field.ts";

type Members = Readonly<Record<string, unknown>>;

/** Creates the elements of an answer. @param label names the table */
export function answerTable(label: string, answer: unknown): HTMLElement {
  if (!Array.isArray(answer)) return memberList(answer as Members);
  if (answer.length === 0) return html("p", {}, "There are none.");
  const rows = answer as readonly Members[];
  const names = [...new Set(rows.flatMap(Object.keys))];
  const head = names.map((name) => html("th", { scope: "col" }, wordsOf(name)));
  const body = rows.map((row) => html("tr", {}, ...names.map((name) => html("td", {}, textOf(row[name])))));
  return html(
    "div",
    { class: "scrolling", tabindex: 0, role: "group", "aria-label": label },
    html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body)),
  );
}

function memberList(answer: Members): HTMLElement {
  const members = Object.entries(answer);
  return html(
    "dl",
    { class: "answer-members" },
    ...members.flatMap(([name, value]) => [html("dt", {}, wordsOf(name)), html("dd", {}, textOf(value))]),
  );
}

const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

/** A value in words: `Yes`, `20 Mbps`, `ES, FR`. */
function textOf(value: unknown): string {
  if (value === undefined) return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "object" && value !== null) return Object.values(value).map(textOf).join(" ");
  const text = String(value);
  return /^\d{4}-\d\d-\d\dT/.test(text) ? times.format(new Date(text)) : text;
}
