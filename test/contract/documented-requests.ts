import fc from "fast-check";
import * as z from "zod";
import type { SampleRequest } from "../../tools/verify/sample-requests.ts";
import { anyText } from "../support/any-text.ts";
import { documentedOperations, type Part, partAt } from "../support/document.ts";
import { valuesOf } from "../support/schema-values.ts";
import type { WireRequest } from "./many-requests.ts";

/** A request for an operation of the OpenAPI document. */
export interface DocumentedRequest extends WireRequest {
  /** The JSON pointer of the operation in the document. */
  readonly pointer: string;
}

const parameterForm = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().default(false),
  schema: z.unknown(),
});
type Parameter = z.infer<typeof parameterForm>;

const accepts = fc.constantFrom(
  "*/*",
  "application/json",
  "application/geo+json",
  "text/csv, */*;q=0.1",
  "application/x-ndjson",
  "application/xml",
);

const deep = (levels: number): unknown =>
  levels === 0 ? {} : levels % 2 === 0 ? [deep(levels - 1)] : { deep: deep(levels - 1) };
const wrong = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    "",
    "\u0000",
    "é",
    [],
    {},
    [[]],
    "9".repeat(400),
    "__proto__",
    deep(400),
  ),
  fc.constantFrom<unknown>(0, -0, -1, 1.5, 65_536, 2 ** 53, 1e308, 5e-324),
  anyText({ maxLength: 20 }),
);

/**
 * Requests for all operations: made from the schemas of the document, or from good requests of which at most one member
 * is another value, removed or added.
 * @param sinks instead of what the schema would allow: nothing is sent to an address that was made up.
 */
export function documentedRequests(
  good: readonly SampleRequest[],
  sinks: fc.Arbitrary<unknown>,
): readonly fc.Arbitrary<DocumentedRequest>[] {
  return documentedOperations.map(({ path, method, pointer }) => {
    const parameters = parametersOf(pointer);
    const mediaType = mediaTypeOf(pointer);
    const of = (place: Parameter["in"]) => recordOf(parameters.filter((one) => one.in === place));
    const samples = good.filter(
      ({ endpoint }) =>
        endpoint.method === method && [endpoint.path, ...endpoint.aliases].some((one) => one === path),
    );
    return fc
      .record({
        inPath: fc.oneof(of("path"), ...samples.map(({ parameters: sent }) => fc.constant(sent))),
        inQuery: fc.oneof(of("query"), fc.dictionary(fc.constantFrom("q", "perPage", "state"), fc.string())),
        inHeader: of("header"),
        accept: fc.option(accepts, { nil: undefined }),
        body: bodies(pointer, mediaType, samples, sinks),
      })
      .map(({ inPath, inQuery, inHeader, accept, body }) => {
        const query = new URLSearchParams(wellFormed(inQuery)).toString();
        const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
          encodeURIComponent(wellFormed(inPath)[name] ?? ""),
        );
        return {
          method,
          path: `${filled}${query === "" ? "" : `?${query}`}`,
          pointer,
          headers: {
            "content-type": mediaType,
            ...inHeader,
            ...(accept === undefined ? {} : { accept }),
          },
          body: body === undefined ? undefined : Buffer.from(body),
        };
      });
  });
}

function parametersOf(pointer: string): readonly Parameter[] {
  const listed = z.array(z.unknown()).parse(partAt(pointer)?.value.parameters ?? []);
  return listed.map((_, index) => parameterForm.parse(partAt(pointer, "parameters", String(index))?.value));
}

function recordOf(parameters: readonly Parameter[]): fc.Arbitrary<Record<string, string>> {
  const values: Record<string, fc.Arbitrary<string>> = Object.fromEntries(
    parameters.map(({ name, schema }) => [
      name,
      valuesOf(schema).map((value) => (typeof value === "string" ? value : JSON.stringify(value))),
    ]),
  );
  const requiredKeys = parameters.filter(({ required }) => required).map(({ name }) => name);
  return fc.record(values, { requiredKeys });
}

/** An unpaired surrogate has no percent-encoding. */
function wellFormed(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replace(/\p{Surrogate}/gu, "\ufffd")]),
  );
}

const json = "application/json";

/** That of the body of an operation; JSON if it has none. */
function mediaTypeOf(pointer: string): string {
  return Object.keys(partAt(pointer, "requestBody", "content")?.value ?? {})[0] ?? json;
}

/** A value as a body; one of a form has texts as its values. */
function written(value: unknown, mediaType: string): string {
  const fields =
    mediaType === json ? undefined : z.record(z.string(), z.coerce.string()).safeParse(value).data;
  return fields === undefined ? JSON.stringify(value) : new URLSearchParams(fields).toString();
}

function bodies(
  pointer: string,
  mediaType: string,
  samples: readonly SampleRequest[],
  sinks: fc.Arbitrary<unknown>,
): fc.Arbitrary<string | undefined> {
  const schema = partAt(pointer, "requestBody", "content", mediaType, "schema");
  if (schema === undefined) return fc.constant(undefined);
  const made = madeFrom(schema, sinks);
  const known = samples.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(body) as unknown]));
  const asKnown = known.length === 0 ? made : fc.constantFrom(...known);
  const value = fc.oneof(
    { weight: 3, arbitrary: asKnown },
    { weight: 3, arbitrary: asKnown.chain(changed) },
    { weight: 2, arbitrary: made },
    { weight: 2, arbitrary: made.chain(changed) },
  );
  return fc.oneof(
    { weight: 10, arbitrary: value.map((one) => written(one, mediaType)) },
    { weight: 1, arbitrary: fc.constantFrom("", "{", "[]", "null", '"text"', "{}", '{"area":') },
  );
}

function madeFrom({ value }: Part, sinks: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return valuesOf(value, { sink: sinks });
}

/** The same value with one member, at any depth, another or left out. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(value);
  if (places.length === 0) return wrong;
  return fc
    .tuple(fc.constantFrom(...places), fc.option(wrong, { nil: undefined }))
    .map(([place, other]) => withMember(value, place, other));
}

type Place = readonly (string | number)[];

function placesIn(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((one, index) => [index, one])
    : Object.entries(value);
  return entries.flatMap(([name, one]) => [[...at, name], ...placesIn(one, [...at, name])]);
}

/** Without the member if there is no other value for it. */
function withMember(value: unknown, [name, ...inner]: Place, other: unknown): unknown {
  if (name === undefined) return other;
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => {
      if (index !== name) return [one];
      const replaced = withMember(one, inner, other);
      return replaced === undefined ? [] : [replaced];
    });
  }
  const object = z.record(z.string(), z.unknown()).parse(value);
  return { ...object, [name]: withMember(object[name], inner, other) };
}
