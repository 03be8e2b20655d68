/** Small forms for the operations that need no map: what they do shows without knowing JSON. */
import { html } from "../base/dom.ts";
import { successful } from "../base/whole-answer.ts";
import { answerTable } from "./answer-table.ts";
import { bodyFields } from "./body-fields.ts";
import { type ApiDocument, type Endpoint, type Group, resolve, type Schema } from "./document.ts";
import { exampleDraft } from "./draft.ts";
import type { OpeningSection } from "./opening.ts";
import { type KnownValues, sending } from "./sending.ts";
import { titled } from "./titled.ts";

/** The operations that have a form: what its button says, and the members of the body that have fields. */
const forms: Readonly<Record<string, { readonly action: string; readonly only: readonly string[] }>> = {
  retrieveQosProfiles: { action: "List profiles", only: ["device", "phoneNumber", "name", "status"] },
  checkNumberRecycling: { action: "Check the number", only: ["phoneNumber", "specifiedDate"] },
  retrieveIdentifier: { action: "Find the device", only: ["device", "phoneNumber"] },
};

/** Creates the section with the forms. */
export function formsSection(
  document: ApiDocument,
  groups: readonly Group[],
  known: KnownValues,
): OpeningSection {
  const title = "Without JSON";
  const endpoints = groups.flatMap((group) => group.endpoints);
  const shown = endpoints.filter(({ operation }) => Object.hasOwn(forms, operation.operationId));
  const lead = html(
    "p",
    {},
    "Three operations as forms. Everything below is sent and answered in JSON, as programs have it.",
  );
  return {
    id: "forms",
    title,
    element: html(
      "section",
      { class: "entry whole", id: "forms" },
      titled("h2", "forms", title),
      lead,
      html("div", { class: "forms" }, ...shown.map((endpoint) => operationForm(document, endpoint, known))),
    ),
  };
}

function operationForm(document: ApiDocument, endpoint: Endpoint, known: KnownValues): HTMLElement {
  const { operationId, summary, requestBody } = endpoint.operation;
  const { action = "Send", only = [] } = forms[operationId] ?? {};
  const draft = exampleDraft(document, endpoint);
  const { element, send, button } = sending(draft, known, (sent) => [
    answerTable(summary, successful(sent).json),
  ]);
  const media = requestBody?.content["application/json"];
  const schema = media === undefined ? {} : resolve<Schema>(document, media.schema);
  const fields = bodyFields(document, schema, draft.body, {
    only,
    onChange: () => {
      draft.body = fields.read() ?? {};
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void send();
  };
  const id = `form-${operationId}`;
  return html(
    "form",
    { id, class: "small-form", submit, "aria-labelledby": `${id}-title` },
    html("h3", { id: `${id}-title` }, summary),
    ...fields.elements,
    button(action, { class: "primary" }),
    element,
  );
}
