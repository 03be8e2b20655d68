/** The form that changes the request of an operation, and sends it. */
import { html } from "../base/dom.ts";
import { jsonOf } from "../base/whole-answer.ts";
import { bodyFields, isFlat } from "./body-fields.ts";
import { codeCard } from "./code-card.ts";
import { type ApiDocument, type ApiResponse, type Parameter, resolve, type Schema } from "./document.ts";
import type { Draft } from "./draft.ts";
import { type KnownValues, type Sent, sending } from "./sending.ts";
import { labelled, valueField } from "./value-field.ts";

/** How much of a response the page shows. */
const shownCharacters = 40_000;

/** The form, folded, with the response below; and a button that sends the request as it is. */
interface TryForm {
  readonly elements: readonly HTMLElement[];
  readonly send: HTMLElement;
}

/**
 * Creates the form.
 * @param onChange is called whenever the request has changed.
 */
export function tryForm(
  document: ApiDocument,
  draft: Draft,
  known: KnownValues,
  onChange: () => void,
): TryForm {
  const { element, send, button } = sending(draft, known, (sent) => [responseCard(document, draft, sent)]);
  const submit = (event: Event) => {
    event.preventDefault();
    void send();
  };
  const form = html(
    "form",
    { submit },
    ...draft.parameters.map((parameter) => parameterField(document, draft, parameter, known, onChange)),
    draft.mediaTypes.length > 1 && formatField(draft, onChange),
    ...bodyOf(document, draft, onChange),
    button("Send", { class: "primary" }),
  );
  const details = html("details", { class: "try" }, html("summary", {}, "Change the request"), form);
  const sendAsItIs = () => {
    // What is missing can be shown, and entered, only where it is open.
    if (!form.checkValidity()) details.open = true;
    form.requestSubmit();
  };
  return { elements: [details, element], send: button("Send", { click: sendAsItIs }) };
}

function parameterField(
  document: ApiDocument,
  draft: Draft,
  parameter: Parameter,
  known: KnownValues,
  onChange: () => void,
): HTMLElement {
  const { name, required: isRequired = false } = parameter;
  const change = () => {
    draft.values.set(name, field.value);
    onChange();
  };
  const value = draft.values.get(name) ?? "";
  const field = valueField(resolve(document, parameter.schema), { value, isRequired, change });
  if (parameter.in === "path") {
    known.onChange(({ [name]: found }) => {
      if (found === undefined) return;
      field.value = found;
      change();
    });
  }
  return labelled(name, isRequired, field);
}

function formatField(draft: Draft, onChange: () => void): HTMLElement {
  const field = html("select", {}, ...draft.mediaTypes.map((type) => html("option", {}, type)));
  field.addEventListener("change", () => {
    draft.accept = field.value;
    onChange();
  });
  return html("label", {}, "Answer as", field);
}

/** The body in fields or, where its schema has lists, as JSON. */
function bodyOf(document: ApiDocument, draft: Draft, onChange: () => void): readonly HTMLElement[] {
  const media = draft.endpoint.operation.requestBody?.content["application/json"];
  if (media === undefined) return [];
  const schema = resolve<Schema>(document, media.schema);
  if (!isFlat(document, schema)) return [jsonField(draft, onChange)];
  const fields = bodyFields(document, schema, draft.body, {
    onChange: () => {
      draft.body = fields.read() ?? {};
      onChange();
    },
  });
  return fields.elements;
}

function jsonField(draft: Draft, onChange: () => void): HTMLElement {
  const text = JSON.stringify(draft.body, null, 2);
  const problem = html("p", { class: "problem", role: "alert" });
  const field = html("textarea", { rows: Math.min(14, text.split("\n").length), spellcheck: "false" }, text);
  field.addEventListener("input", () => {
    const body = jsonOf(field.value);
    if (body !== undefined) draft.body = body;
    problem.textContent = body === undefined ? "This is not JSON: the programs show the body before it." : "";
    // Neither button sends a form that is not valid.
    field.setCustomValidity(problem.textContent);
    onChange();
  });
  return html("div", {}, html("label", {}, "Body", field), problem);
}

function responseCard(
  document: ApiDocument,
  { endpoint }: Draft,
  { status, statusText, ok, headers, text, json, milliseconds }: Sent,
): HTMLElement {
  const title = `${status} ${statusText} · ${milliseconds} ms`;
  const card = codeCard("Response", html("span", { class: ok ? "status ok" : "status failed" }, title));
  const documented = endpoint.operation.responses[status];
  const names = Object.keys(documented ? (resolve<ApiResponse>(document, documented).headers ?? {}) : {});
  const named = names.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [html("dt", {}, name), html("dd", {}, value)];
  });
  card.text.before(html("dl", { class: "response-headers", "aria-label": "Headers" }, ...named));
  const shown = json === undefined ? text : JSON.stringify(json, null, 2);
  const rest = shown.length - shownCharacters;
  card.show(
    rest <= 0
      ? shown
      : `${shown.slice(0, shownCharacters)}\n… and ${rest} characters more: use the program for all.`,
  );
  return card.element;
}
