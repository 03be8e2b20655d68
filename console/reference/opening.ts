/** The sections before the operations: what one can do here, how to log in, and what errors look like. */
import { subscriberLogin } from "../base/demo.ts";
import { buttonTo, html } from "../base/dom.ts";
import { apiUrl } from "../base/http.ts";
import { askForLogin } from "../base/login-dialog.ts";
import { onLoginChange } from "../base/session.ts";
import { languages, shellLogin } from "../base/snippets.ts";
import { codeCard } from "./code-card.ts";
import { type ApiDocument, type Group, type Parameter, resolve, type Schema } from "./document.ts";
import { exampleDraft, snippetOf } from "./draft.ts";
import { exampleCard, textOf } from "./example-card.ts";
import { prose } from "./prose.ts";
import { bodyView, headerList, parameterList } from "./schema-view.ts";
import { addressOf, titled } from "./titled.ts";
import { tokenCard } from "./token-program.ts";

/** A section, with how the index calls it. */
export interface OpeningSection {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
}

/** Creates the sections. */
export function openingSections(document: ApiDocument, groups: readonly Group[]): readonly OpeningSection[] {
  const [lead = "", ...rest] = document.info.description.split("\n\n");
  return [
    { id: "introduction", title: "Introduction", element: introduction(document, lead, groups) },
    { id: "get-started", title: "Get started", element: logInSection(document) },
    { id: "errors", title: "Errors", element: errorSection(document) },
    { id: "headers", title: "Headers", element: headerSection(document, groups) },
    ...(rest.length === 0 ? [] : [furtherSection(rest)]),
  ];
}

function introduction(document: ApiDocument, lead: string, groups: readonly Group[]): HTMLElement {
  const address = codeCard("Address of the service", html("span", {}, "Address"));
  address.show(apiUrl("").replace(/\/$/, ""));
  const card = ({ name, title: area, description }: Group) =>
    html("li", {}, html("a", { href: addressOf(name) }, area), ...prose(description));
  return section(
    "introduction",
    [
      html("h1", { id: "introduction-title" }, document.info.title),
      html("div", { class: "lead" }, ...prose(lead)),
      html("ul", { class: "areas" }, ...groups.map(card)),
    ],
    [
      address.element,
      ...firstRequest(document, groups),
      html(
        "p",
        { class: "note" },
        "For programs: ",
        html("a", { href: "openapi.json" }, "OpenAPI document"),
        ", ",
        html("a", { href: "llms.txt" }, "text for agents"),
        ".",
      ),
    ],
  );
}

/** The first request that an address is enough for, and its response. */
function firstRequest(document: ApiDocument, groups: readonly Group[]): readonly HTMLElement[] {
  const drafts = groups.flatMap(({ endpoints }) => endpoints).map((one) => exampleDraft(document, one));
  const draft = drafts.find(({ endpoint, isPublic }) => endpoint.method === "GET" && !isPublic);
  if (draft === undefined) return [];
  const card = codeCard("A first request", html("span", {}, "A first request"));
  onLoginChange((login) => {
    const request = languages.curl(snippetOf(draft, login?.token));
    card.show(login === undefined ? `${loginProgram(document)}\n${request}` : request, login?.token);
  });
  return [card.element, exampleCard(document, draft.endpoint.operation)];
}

function logInSection(document: ApiDocument): HTMLElement {
  const card = codeCard("Log in with a shell", html("span", {}, "Shell"));
  card.show(loginProgram(document));
  const state = html("p", { class: "login-state" });
  onLoginChange((login) => {
    state.replaceChildren(
      ...(login === undefined
        ? [
            buttonTo("Log in", () => askForLogin(), { class: "primary" }),
            html("span", {}, "The programs below then have your token in them."),
          ]
        : [
            html(
              "span",
              {},
              `You are logged in as ${login.username}: the programs below have your token in them.`,
            ),
          ]),
    );
  });
  const { bearer, openId } = (document.components.securitySchemes ?? {}) as Readonly<
    Record<string, { readonly description?: string } | undefined>
  >;
  return section(
    "get-started",
    [
      titled("h2", "get-started", "Get started"),
      html(
        "p",
        {},
        "A login answers with an access token. Send it with each request, as ",
        html("code", {}, "Authorization: Bearer"),
        ". Copied programs without a login read it from the variable ",
        html("code", {}, "TOKEN"),
        ".",
      ),
      state,
      html("h3", { class: "part" }, "2-legged and 3-legged tokens"),
      ...prose(bearer?.description ?? ""),
      ...(subscriberLogin === undefined
        ? []
        : [
            html(
              "p",
              {},
              "In the demo, the login of ",
              html("code", {}, subscriberLogin.emailaddress),
              " with the password ",
              html("code", {}, subscriberLogin.password),
              " gives a 3-legged token.",
            ),
          ]),
      ...(openId === undefined ? [] : keyParagraphs(openId.description ?? "")),
    ],
    [card.element, ...(openId === undefined ? [] : [tokenCard("A 3-legged token for a phone number")])],
  );
}

/** How a client that has a key gets its tokens, where the stage issues them. */
function keyParagraphs(description: string): readonly (Node | string)[] {
  return [
    html("h3", { class: "part" }, "With a key"),
    ...prose(description),
    html(
      "p",
      {},
      "The program in JavaScript does it with the key of the demo's client, in a checkout of the service. Keys " +
        "stay with their owners: this page takes none. It takes the token, in its login, to send requests with it.",
    ),
  ];
}

/** A shell program that keeps a token in TOKEN, with the login of the document's example. */
function loginProgram({ components }: ApiDocument): string {
  const example = components.examples?.["authenticateProfile.request"] as
    | { readonly value: { readonly emailaddress: string; readonly password: string } }
    | undefined;
  const { emailaddress = "", password = "" } = example?.value ?? {};
  return [
    `export EMAIL='${emailaddress}'`,
    `export PASSWORD='${password}'`,
    shellLogin(apiUrl("v3/profile/authenticate")),
  ].join("\n");
}

interface ErrorBody {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

function errorSection(document: ApiDocument): HTMLElement {
  const examples = Object.values(document.components.examples ?? {}) as readonly {
    readonly value: unknown;
  }[];
  const errors = examples.map(({ value }) => value).filter(isError);
  const card = codeCard("Body of an error", html("span", {}, "Body of an error"));
  card.show(textOf(errors[0]));
  const sorted = errors.toSorted((one, other) => one.status - other.status);
  return section(
    "errors",
    [
      titled("h2", "errors", "Errors"),
      ...bodyView(document, resolve<Schema>(document, { $ref: "#/components/schemas/ErrorInfo" })),
      html(
        "details",
        { class: "response" },
        html("summary", {}, html("span", { class: "meaning" }, "All codes")),
        html(
          "ul",
          { class: "members" },
          ...sorted.map(({ status, code, message }) =>
            html(
              "li",
              {},
              html(
                "p",
                { class: "member" },
                html("span", { class: "status failed" }, String(status)),
                html("code", {}, code),
              ),
              html("p", {}, message),
            ),
          ),
        ),
      ),
    ],
    [card.element],
  );
}

function isError(value: unknown): value is ErrorBody {
  return (
    typeof value === "object" && value !== null && "code" in value && "message" in value && "status" in value
  );
}

/** The headers that operations share. */
function headerSection(document: ApiDocument, groups: readonly Group[]): HTMLElement {
  const responses = groups
    .flatMap(({ endpoints }) => endpoints)
    .flatMap(({ operation }) => Object.values(operation.responses));
  const shared = responses
    .flatMap((response) => Object.entries(resolve(document, response).headers ?? {}))
    .filter(([, header]) => "$ref" in header);
  return section(
    "headers",
    [
      titled("h2", "headers", "Headers"),
      html("h3", { class: "part" }, "Of requests"),
      parameterList(document, Object.values(document.components.parameters ?? {}) as Parameter[]),
      html("h3", { class: "part" }, "Of responses"),
      headerList(document, Object.fromEntries(shared)),
    ],
    [],
  );
}

/** What a stage adds to the description, under its own heading. */
function furtherSection(paragraphs: readonly string[]): OpeningSection {
  const [heading = "", ...rest] = paragraphs;
  const title = heading.replace(/^#+\s*/, "");
  return {
    id: "stage",
    title,
    element: html(
      "section",
      { class: "entry whole", id: "stage" },
      titled("h2", "stage", title),
      ...prose(rest.join("\n\n")),
    ),
  };
}

function section(id: string, about: readonly (Node | string)[], samples: readonly Node[]): HTMLElement {
  return html(
    "section",
    { class: "entry", id },
    html("div", { class: "about" }, ...about),
    html("div", { class: "samples" }, ...samples),
  );
}
