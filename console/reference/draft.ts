/** The request that a card shows as programs and sends: an example that can be changed. */
import { demoSink } from "../base/demo.ts";
import { apiUrl } from "../base/http.ts";
import type { SnippetRequest } from "../base/snippets.ts";
import {
  type ApiDocument,
  type Endpoint,
  type MediaType,
  type OrReference,
  type Parameter,
  resolve,
} from "./document.ts";

/** A request to an endpoint. */
export interface Draft {
  readonly endpoint: Endpoint;
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  /** The values of parameters by their names; empty for those that are not sent. */
  readonly values: Map<string, string>;
  /** The media types to choose from, the first of which needs no `Accept`. */
  readonly mediaTypes: readonly string[];
  accept: string;
  /** The body, if the operation has one. */
  body: unknown;
}

/** Creates the request that the examples of the document make. */
export function exampleDraft(document: ApiDocument, endpoint: Endpoint): Draft {
  const { operation } = endpoint;
  const parameters = parametersOf(document, endpoint);
  const [success] = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  const { content = {} } = success === undefined ? {} : resolve(document, success[1]);
  const mediaTypes = Object.keys(content);
  const requestBody = operation.requestBody?.content["application/json"];
  const body = requestBody && examplesOf(document, requestBody)[0]?.value;
  return {
    endpoint,
    isPublic: operation.security.length === 0,
    parameters,
    values: new Map(
      parameters.map(({ name, required, example }) => [name, required ? String(example ?? "") : ""]),
    ),
    mediaTypes,
    accept: mediaTypes[0] ?? "",
    body: demoSink !== undefined && hasSink(body) ? { ...body, sink: demoSink } : body,
  };
}

function hasSink(body: unknown): body is object {
  return typeof body === "object" && body !== null && "sink" in body;
}

/** The parameters of an endpoint itself: those that it shares with others are components, which the opening describes. */
export function parametersOf(document: ApiDocument, { operation }: Endpoint): readonly Parameter[] {
  return (operation.parameters ?? [])
    .filter((parameter) => !("$ref" in parameter))
    .map((parameter) => resolve<Parameter>(document, parameter));
}

/** The examples of a body, in their order, with their names. */
export function examplesOf(document: ApiDocument, { examples = {} }: MediaType) {
  return Object.entries(examples).map(([name, example]) => {
    const { value } = resolve(document, example as OrReference<{ readonly value: unknown }>);
    return { name, value };
  });
}

/** The values that are sent, by the place where they are. */
export function sentValues({ parameters, values }: Draft) {
  const inPlace = (place: Parameter["in"]) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name }): [string, string] => [name, values.get(name) ?? ""])
        .filter(([, value]) => value !== ""),
    );
  return { path: inPlace("path"), query: inPlace("query"), header: inPlace("header") };
}

/** The request, as programs in any language send it. */
export function snippetOf(draft: Draft, token: string | undefined): SnippetRequest {
  const { endpoint, isPublic, body } = draft;
  const { path, query, header } = sentValues(draft);
  const address = endpoint.path.replaceAll(/\{(\w+)\}/g, (braced, name: string) =>
    path[name] === undefined ? braced : encodeURIComponent(path[name]),
  );
  const search = new URLSearchParams(query).toString();
  return {
    method: endpoint.method,
    url: apiUrl(`${address.slice(1)}${search === "" ? "" : `?${search}`}`),
    headers: { ...(acceptOf(draft) === undefined ? {} : { Accept: draft.accept }), ...header },
    ...(body === undefined ? {} : { body }),
    isPublic,
    token,
  };
}

/** The `Accept` of the request; undefined for the media type that it is answered with anyway. */
export function acceptOf({ accept, mediaTypes }: Draft): string | undefined {
  return accept === mediaTypes[0] ? undefined : accept;
}
