/** The parts of an OpenAPI 3.1 document that the reference shows, and how they are found. */

/** A reference to a component; what stands next to it replaces members of the component. */
interface Reference {
  readonly $ref: string;
}

/** A part of the document, or a reference to it. */
export type OrReference<Part> = Part | (Reference & Partial<Part>);

/** A schema (JSON Schema 2020-12), with the keywords that the document uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, OrReference<Schema>>>;
  readonly required?: readonly string[];
  readonly items?: OrReference<Schema>;
  readonly additionalProperties?: OrReference<Schema> | boolean;
  readonly anyOf?: readonly OrReference<Schema>[];
}

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema: OrReference<Schema>;
}

/** A body in one media type. */
export interface MediaType {
  readonly schema: OrReference<Schema>;
  readonly examples?: Readonly<Record<string, OrReference<{ readonly value: unknown }>>>;
}

/** The response of a status. */
export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, OrReference<{ readonly description?: string }>>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** A request to the service, or to a sink. */
export interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  /** Further paths, with what differs there. */
  readonly "x-aliases"?: Readonly<Record<string, string>>;
  readonly parameters?: readonly OrReference<Parameter>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, OrReference<ApiResponse>>>;
  readonly callbacks?: Readonly<Record<string, OrReference<PathItems>>>;
}

type PathItems = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The document as the service sends it. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly {
    readonly name: string;
    readonly description: string;
    readonly "x-displayName": string;
  }[];
  readonly paths: PathItems;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** An operation with the address it has. */
export interface Endpoint {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The operations of one tag. */
export interface Group {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

/** The operations by tag, in the order of the document. */
export function groupsOf({ tags, paths }: ApiDocument): readonly Group[] {
  const endpoints = endpointsOf(paths);
  return tags.map(({ name, description, "x-displayName": title }) => ({
    name,
    title,
    description,
    endpoints: endpoints.filter(({ operation }) => operation.tags?.includes(name)),
  }));
}

/** The operations of paths, or of the addresses of a callback. */
export function endpointsOf(paths: PathItems): readonly Endpoint[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/**
 * A part itself, whether it stands in the document or is a reference to a component.
 * @throws {Error} for a component that the document lacks.
 */
export function resolve<Part extends object>(document: ApiDocument, part: OrReference<Part>): Part {
  if (!("$ref" in part)) return part;
  const { $ref, ...others } = part;
  const [, kind = "", name = ""] = /^#\/components\/([^/]+)\/(.+)$/.exec($ref) ?? [];
  const component = document.components[kind]?.[name] as OrReference<Part> | undefined;
  if (component === undefined) throw new Error(`the document has no ${$ref}`);
  return { ...resolve(document, component), ...others };
}
