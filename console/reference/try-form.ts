/** The form that changes the request of an operation, and sends it. */
import { announce, html } from "../dom.ts";
import { ApiError, fetchFrom } from "../http.ts";
import { askForLogin } from "../login-dialog.ts";
import { currentLogin, fetchWithToken, onLoginChange } from "../session.ts";
import type { Choice } from "./choice.ts";
import { codeCard } from "./code-card.ts";
import { type ApiDocument, type Parameter, resolve } from "./document.ts";
import { type Draft, snippetOf } from "./draft.ts";

/** How much of a response the page shows. */
const shownCharacters = 40_000;

/**
 * Creates the form.
 * @param onChange is called whenever the request has changed.
 */
export function tryForm(
  document: ApiDocument,
  draft: Draft,
  known: Choice<Readonly<Record<string, string>>>,
  onChange: () => void,
): HTMLElement {
  const response = html("div", { class: "live", "aria-live": "polite" });
  const button = html("button", { class: "primary" });
  let sending = new AbortController();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!draft.isPublic && currentLogin() === undefined) {
      askForLogin();
      return;
    }
    button.disabled = true;
    sending = new AbortController();
    response.replaceChildren(html("p", { class: "note" }, "Sending…"));
    response.replaceChildren(...(await send(draft, known, sending.signal)));
    button.disabled = false;
  };
  onLoginChange((login) => {
    button.textContent = draft.isPublic || login !== undefined ? "Send" : "Log in to send";
    if (login !== undefined) return;
    sending.abort();
    response.replaceChildren();
  });
  return html(
    "details",
    { class: "try" },
    html("summary", {}, "Try it"),
    html(
      "form",
      { submit },
      ...draft.parameters.map((parameter) => parameterField(document, draft, parameter, known, onChange)),
      draft.mediaTypes.length > 1 && formatField(draft, onChange),
      draft.body !== undefined && bodyField(draft, button, onChange),
      button,
    ),
    response,
  );
}

function parameterField(
  document: ApiDocument,
  draft: Draft,
  parameter: Parameter,
  known: Choice<Readonly<Record<string, string>>>,
  onChange: () => void,
): HTMLElement {
  const { name, required = false } = parameter;
  const { enum: choices, default: fallback } = resolve(document, parameter.schema);
  const change = () => {
    draft.values.set(name, field.value);
    onChange();
  };
  const value = draft.values.get(name) ?? "";
  const field =
    choices === undefined
      ? html("input", {
          value,
          required,
          placeholder: String(fallback ?? ""),
          spellcheck: "false",
          input: change,
        })
      : html(
          "select",
          { change },
          html("option", { value: "" }, "–"),
          ...choices.map((one) => html("option", {}, String(one))),
        );
  if (parameter.in === "path") {
    known.onChange(({ [name]: found }) => {
      if (found === undefined) return;
      field.value = found;
      change();
    });
  }
  return html("label", {}, html("code", {}, name), required ? " required" : "", field);
}

function formatField(draft: Draft, onChange: () => void): HTMLElement {
  const field = html("select", {}, ...draft.mediaTypes.map((type) => html("option", {}, type)));
  field.addEventListener("change", () => {
    draft.accept = field.value;
    onChange();
  });
  return html("label", {}, "Answer as", field);
}

function bodyField(draft: Draft, button: HTMLButtonElement, onChange: () => void): HTMLElement {
  const text = JSON.stringify(draft.body, null, 2);
  const problem = html("p", { class: "problem", role: "alert" });
  const field = html("textarea", { rows: Math.min(14, text.split("\n").length), spellcheck: "false" }, text);
  field.addEventListener("input", () => {
    try {
      draft.body = JSON.parse(field.value);
      problem.textContent = "";
      onChange();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problem.textContent = "This is not JSON: the programs show the body before it.";
    }
    button.disabled = problem.textContent !== "";
  });
  return html("div", {}, html("label", {}, "Body", field), problem);
}

/** Sends the request, and returns its response as a card; nothing once it is aborted. */
async function send(
  draft: Draft,
  known: Choice<Readonly<Record<string, string>>>,
  aborted: AbortSignal,
): Promise<readonly HTMLElement[]> {
  const { url, method, headers = {}, body } = snippetOf(draft, currentLogin()?.token);
  const start = performance.now();
  try {
    const response = await (draft.isPublic ? fetchFrom : fetchWithToken)(url, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: aborted,
    });
    const text = await response.text();
    if (aborted.aborted) return [];
    const milliseconds = Math.round(performance.now() - start);
    const title = `${response.status} ${response.statusText} · ${milliseconds} ms`;
    announce(`The response is ${response.status}.`);
    // What a deletion leaves is not what the next one is meant for.
    if (method !== "DELETE") known.set({ ...known.get(), ...idsIn(parsed(text)) });
    return [responseCard(title, response.ok, formatted(text))];
  } catch (error) {
    if (aborted.aborted) return [];
    if (!(error instanceof ApiError)) throw error;
    return [html("p", { class: "problem" }, error.message)];
  }
}

function responseCard(title: string, isOk: boolean, text: string): HTMLElement {
  const card = codeCard("Response", html("span", { class: isOk ? "status ok" : "status failed" }, title));
  card.show(
    text.length <= shownCharacters
      ? text
      : `${text.slice(0, shownCharacters)}\n… and ${text.length - shownCharacters} characters more: use the program for all.`,
  );
  return card.element;
}

/** A body that is JSON; undefined for any other. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** A body as people read it. */
function formatted(text: string): string {
  const body = parsed(text);
  return body === undefined ? text : JSON.stringify(body, null, 2);
}

/** The ids in a body, or in the first member of a list in it. */
function idsIn(body: unknown): Readonly<Record<string, string>> {
  if (typeof body !== "object" || body === null) return {};
  const members = Object.entries(body);
  const ofLists = members.flatMap(([, value]) => (Array.isArray(value) ? [idsIn(value[0])] : []));
  const own = members.filter(([name, value]) => /^(?:i|.+I)d$/.test(name) && typeof value === "string");
  return Object.assign({}, ...ofLists, Object.fromEntries(own));
}
