/** An operation: what it takes and answers on the left, its programs and examples on the right. */
import { html } from "../base/dom.ts";
import {
  type ApiDocument,
  type ApiResponse,
  type Endpoint,
  endpointsOf,
  type Operation,
  type Parameter,
  resolve,
} from "./document.ts";
import { parametersOf } from "./draft.ts";
import { exampleCard } from "./example-card.ts";
import { methodBadge } from "./method-badge.ts";
import { prose } from "./prose.ts";
import { requestCard, type SharedChoices } from "./request-card.ts";
import { bodyView, headerList, parameterList } from "./schema-view.ts";
import { titled } from "./titled.ts";
import { tokenCard } from "./token-program.ts";

/** Creates the section of an operation. */
export function operationView(
  document: ApiDocument,
  endpoint: Endpoint,
  choices: SharedChoices,
): HTMLElement {
  const { method, path, operation } = endpoint;
  const { operationId, summary, description } = operation;
  return html(
    "section",
    { class: "entry", id: operationId },
    html(
      "div",
      { class: "about" },
      titled("h3", operationId, summary),
      html("p", { class: "address" }, methodBadge(method), html("code", {}, path)),
      ...aliasViews(operation),
      ...prose(description),
      ...requestParts(document, endpoint),
      html("h4", {}, "Responses"),
      ...responseViews(document, operation),
      ...callbackViews(document, operation),
    ),
    html(
      "div",
      { class: "samples" },
      isForm(operation) ? tokenCard(`Program: ${summary}`) : requestCard(document, endpoint, choices),
      exampleCard(document, operation),
    ),
  );
}

/** Whether the body is a form, as at the token endpoint alone: what is in it has to be signed, in a program. */
function isForm({ requestBody }: Operation): boolean {
  return requestBody !== undefined && !("application/json" in requestBody.content);
}

function aliasViews({ "x-aliases": aliases = {} }: Operation): readonly HTMLElement[] {
  return Object.entries(aliases).map(([path, differences]) =>
    html("p", { class: "alias" }, "Also at ", html("code", {}, path), ". ", ...inlineProse(differences)),
  );
}

/** The parameters and the body of a request. */
function requestParts(document: ApiDocument, endpoint: Endpoint): readonly (Node | string)[] {
  const parameters = parametersOf(document, endpoint);
  const listed = (place: Parameter["in"], title: string) => {
    const inPlace = parameters.filter((parameter) => parameter.in === place);
    return inPlace.length === 0 ? [] : [html("h4", {}, title), parameterList(document, inPlace)];
  };
  const [body] = Object.values(endpoint.operation.requestBody?.content ?? {});
  return [
    ...listed("path", "Path parameters"),
    ...listed("query", "Query parameters"),
    ...(body === undefined ? [] : [html("h4", {}, "Body"), ...bodyView(document, body.schema)]),
    ...listed("header", "Headers"),
  ];
}

function responseViews(document: ApiDocument, { responses }: Operation): readonly HTMLElement[] {
  return Object.entries(responses).map(([status, response]) =>
    responseView(document, status, resolve<ApiResponse>(document, response)),
  );
}

function responseView(document: ApiDocument, status: string, response: ApiResponse): HTMLElement {
  const { description, headers = {}, content = {} } = response;
  const [meaning = "", ...codes] = description.split("\n\n");
  const isOk = status.startsWith("2");
  return html(
    "details",
    { class: "response" },
    html(
      "summary",
      {},
      html("span", { class: isOk ? "status ok" : "status failed" }, status),
      html("span", { class: "meaning" }, ...inlineProse(meaning)),
    ),
    ...prose(codes.join("\n\n")),
    // Errors have the same body, which the opening describes.
    ...(isOk
      ? Object.entries(content).flatMap(([mediaType, { schema }]) => [
          html("p", { class: "media-type" }, html("code", {}, mediaType)),
          ...bodyView(document, schema),
        ])
      : []),
    html("details", { class: "nested" }, html("summary", {}, "Headers"), headerList(document, headers)),
  );
}

/** The text of a paragraph, where no paragraph may stand. */
function inlineProse(text: string): readonly Node[] {
  return prose(text).flatMap((part) => (typeof part === "string" ? [] : [...part.childNodes]));
}

/** What the service sends later, to the sink of a request. */
function callbackViews(document: ApiDocument, { callbacks = {} }: Operation): readonly (Node | string)[] {
  return Object.values(callbacks).flatMap((callback) =>
    endpointsOf(resolve(document, callback)).flatMap((endpoint) => [
      html("h4", {}, "Sent to the sink"),
      html(
        "details",
        { class: "response" },
        html(
          "summary",
          {},
          methodBadge(endpoint.method),
          html("span", { class: "meaning" }, endpoint.operation.summary),
        ),
        ...prose(endpoint.operation.description),
        ...requestParts(document, endpoint),
        html("h4", {}, "What the sink answers"),
        ...Object.entries(endpoint.operation.responses).map(([status, { description }]) =>
          html("p", {}, html("span", { class: "status" }, status), " ", ...inlineProse(description ?? "")),
        ),
      ),
    ]),
  );
}
