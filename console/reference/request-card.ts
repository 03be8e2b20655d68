/** The card of an operation: its request as programs, and a form to change and send it. */
import { html } from "../base/dom.ts";
import { apiUrl } from "../base/http.ts";
import { currentLogin, onLoginChange } from "../base/session.ts";
import { languages } from "../base/snippets.ts";
import type { Choice } from "./choice.ts";
import { clientProgram } from "./client-program.ts";
import { codeCard } from "./code-card.ts";
import { type ApiDocument, type Endpoint, resolve, type Schema } from "./document.ts";
import { acceptOf, type Draft, exampleDraft, sentValues, snippetOf } from "./draft.ts";
import { methodBadge } from "./method-badge.ts";
import type { KnownValues } from "./sending.ts";
import { tabs } from "./tabs.ts";
import { tryForm } from "./try-form.ts";
import { enteredValue } from "./value-field.ts";

/** What the cards of all operations have in common. */
export interface SharedChoices {
  readonly language: Choice<string>;
  readonly known: KnownValues;
}

/** Creates the card. */
export function requestCard(document: ApiDocument, endpoint: Endpoint, choices: SharedChoices): HTMLElement {
  const draft = exampleDraft(document, endpoint);
  const programs = programsOf(document, draft);
  const names = Object.keys(programs);
  const { elements, send } = tryForm(document, draft, choices.known, () => show());
  const card = codeCard(
    `Program: ${endpoint.operation.summary}`,
    html("span", { class: "address" }, methodBadge(endpoint.method), html("code", {}, endpoint.path)),
    send,
  );
  const chooser = tabs(`Language of ${endpoint.operation.summary}`, names, card.text, choices.language.set);
  const show = () => {
    const language = names.includes(choices.language.get()) ? choices.language.get() : "curl";
    chooser.choose(language);
    const token = currentLogin()?.token;
    card.show(programs[language]?.(token) ?? "", token);
  };
  choices.language.onChange(show);
  onLoginChange(show);
  card.text.before(chooser.element);
  card.element.append(...elements);
  return card.element;
}

/** The programs of a request by their languages; each takes the token, if somebody is logged in. */
function programsOf(
  document: ApiDocument,
  draft: Draft,
): Readonly<Record<string, (token: string | undefined) => string>> {
  const { curl, ...others } = languages;
  const { method, path } = draft.endpoint;
  const inTypeScript = (token: string | undefined) =>
    clientProgram({
      method,
      path,
      baseUrl: apiUrl("").replace(/\/$/, ""),
      parameters: typedValues(document, draft),
      accept: acceptOf(draft),
      body: draft.body,
      token,
    });
  const generators = Object.entries({ curl, ...others });
  return {
    ...Object.fromEntries(
      generators.map(([name, write]) => [
        name,
        (token: string | undefined) => write(snippetOf(draft, token)),
      ]),
    ),
    // The client sends a token with every request.
    ...(draft.isPublic ? {} : { TypeScript: inTypeScript }),
  };
}

/** The values that are sent, with numbers where the schema has them. */
function typedValues(document: ApiDocument, draft: Draft) {
  const schemas = new Map(
    draft.parameters.map(({ name, schema }) => [name, resolve<Schema>(document, schema)]),
  );
  const typed = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, enteredValue(schemas.get(name) ?? {}, value)]),
    );
  const { path, query, header } = sentValues(draft);
  return { path: typed(path), query: typed(query), header: typed(header) };
}
