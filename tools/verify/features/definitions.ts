import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { parse, YAMLParseError } from "yaml";
import * as z from "zod";
import { conditionsForDiscriminators } from "./discriminators.ts";
import { CannotRun } from "./ending.ts";
import { filesIn } from "./folder-files.ts";

const operation = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))).default([]),
});
const members = z.record(z.string(), z.unknown());
const document = z.looseObject({
  openapi: z.string(),
  servers: z.array(z.object({ url: z.string() })).default([]),
  paths: z.record(z.string(), members),
  components: z.looseObject({ schemas: members.default({}) }).prefault({}),
});

const methods = ["get", "put", "post", "delete", "patch"];
const jsonSchema = "content/application~1json/schema";

/** An operation of an API definition. */
export interface DefinedOperation {
  readonly id: string;
  readonly method: string;
  readonly scopes: readonly string[];
  /** Where the schema of its body is; undefined for an operation without a body. */
  readonly body: string | undefined;
  /** Whether it answers 200 with a list. */
  readonly isList: boolean;
}

/** An API definition (OpenAPI) whose schemas are found by the pointers that feature files have. */
export class Definition {
  readonly #document: z.output<typeof document>;
  // Patterns of definitions are not written for the `u` flag.
  readonly #ajv = new Ajv({ strict: false, validateSchema: false, unicodeRegExp: false, logger: false });
  readonly #compiled = new Map<string, ValidateFunction>();
  /** What its resources begin with, such as `/number-recycling/v0.2`. */
  readonly basePath: string;

  /** @throws {z.ZodError} for what is no API definition. */
  constructor(content: unknown) {
    this.#document = document.parse(content);
    const [{ url } = { url: "" }] = this.#document.servers;
    this.basePath = url.replace(/^(?:\{\w+\}|https?:\/\/[^/]+)/, "").replace(/\/$/, "");
    const { components } = this.#document;
    const schemas = conditionsForDiscriminators(components.schemas);
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(
      { components: { ...components, schemas }, paths: this.#document.paths },
      "definition",
    );
  }

  /** The operations of a resource such as `/number-recycling/v0.2/check`; none if it is of another API. */
  operationsAt(resource: string): readonly DefinedOperation[] {
    if (!resource.startsWith(`${this.basePath}/`)) return [];
    const path = resource.slice(this.basePath.length);
    const place = `#/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return Object.entries(this.#document.paths[path] ?? {})
      .filter(([method]) => methods.includes(method))
      .map(([method, content]) => {
        const { operationId, security } = operation.parse(content);
        const body = this.#resolved(`${place}/${method}/requestBody/${jsonSchema}`);
        const answered = this.#at(this.#resolved(`${place}/${method}/responses/200/${jsonSchema}`) ?? "");
        return {
          id: operationId,
          method: method.toUpperCase(),
          scopes: security.flatMap((one) => Object.values(one).flat()),
          body,
          isList: (answered as { readonly type?: unknown } | undefined)?.type === "array",
        };
      });
  }

  /** Whether something is at a pointer. */
  has(pointer: string): boolean {
    return this.#resolved(`#${pointer}`) !== undefined;
  }

  /** What is wrong with a value by the schema at a pointer, without a part of the value; undefined if nothing is. */
  problemOf(value: unknown, pointer: string): string | undefined {
    const place = this.#schemaAt(pointer);
    const validate = this.#compiled.get(place) ?? this.#ajv.compile({ $ref: `definition${place}` });
    this.#compiled.set(place, validate);
    if (validate(value)) return undefined;
    const [problem] = validate.errors ?? [];
    return `${problem?.instancePath || "the whole"} ${problem?.message}`;
  }

  /** A value that the schema at a pointer refuses: an object where an object is due, text where text is. */
  refusedBy(pointer: string): unknown {
    const [member] = Object.keys(this.membersOf(pointer));
    const objects = member === undefined ? [] : [{ [member]: 12345 }, { [member]: "not compliant!" }];
    const refused = [...objects, "not compliant!", 12345].find(
      (one) => this.problemOf(one, pointer) !== undefined,
    );
    if (refused === undefined)
      throw new CannotRun(`the schema at ${pointer} refuses no value that was tried`);
    return refused;
  }

  /** The members of the objects that the schema at a pointer describes, with the pointers of their schemas. */
  membersOf(pointer: string): Readonly<Record<string, string>> {
    const place = this.#schemaAt(pointer);
    const { allOf = [], properties = {} } = this.#at(place) as {
      readonly allOf?: readonly unknown[];
      readonly properties?: object;
    };
    const own = Object.keys(properties).map((name) => [name, `${place}/properties/${name}`]);
    const inherited = allOf.map((_, index) => this.membersOf(`${place}/allOf/${index}`));
    return Object.assign({}, ...inherited, Object.fromEntries(own));
  }

  /** Where a schema is; feature files name the responses of device identifiers as if they were schemas. */
  #schemaAt(pointer: string): string {
    const place = `#${pointer.replace(/^#/, "")}`;
    const response = `${place.replace("/schemas/", "/responses/")}/${jsonSchema}`;
    const found = this.#resolved(place) ?? this.#resolved(response);
    if (found === undefined) throw new CannotRun(`the definition of ${this.basePath} has no ${pointer}`);
    return found;
  }

  /** A pointer with every reference on its way followed; undefined if it leads nowhere. */
  #resolved(pointer: string): string | undefined {
    let place = "#";
    for (const segment of pointer.split("/").slice(1)) {
      place = `${place}/${segment}`;
      const reference = (this.#at(place) as { readonly $ref?: string } | undefined)?.$ref;
      if (reference !== undefined) place = this.#resolved(reference) ?? place;
    }
    return this.#at(place) === undefined ? undefined : place;
  }

  #at(place: string): unknown {
    return place
      .split("/")
      .slice(1)
      .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>(
        (value, name) =>
          typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined,
        this.#document,
      );
  }
}

/** Undefined for what is not JSON. YAML's parser takes a hundred times as long for the same text. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The API definitions in a folder: its YAML and JSON files that say `openapi`.
 * @throws {Error} if it has none, or cannot be read, and naming the file that is neither.
 */
export async function readDefinitions(folder: string): Promise<readonly Definition[]> {
  const contents = (await filesIn(folder, /\.(?:ya?ml|json)$/)).map(({ name, text }): unknown => {
    try {
      return jsonIn(text) ?? parse(text);
    } catch (error) {
      if (!(error instanceof YAMLParseError)) throw error;
      const [problem] = error.message.split(":\n");
      throw new Error(`${name} is neither YAML nor JSON: ${problem}`, { cause: error });
    }
  });
  const found = contents.filter((one) => z.looseObject({ openapi: z.string() }).safeParse(one).success);
  if (found.length === 0) {
    throw new Error(
      `${folder} has no API definition (.yaml with openapi): name their folder by --definitions`,
    );
  }
  return found.map((one) => new Definition(one));
}
