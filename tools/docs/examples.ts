import * as z from "zod";
import type { Endpoint } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { reference } from "./reference.ts";

/** An example of a body under the name it has among the document's components. */
interface NamedExample {
  readonly name: string;
  readonly value: unknown;
}

/**
 * The examples of an endpoint's request body, as its schema's metadata gives them.
 * @throws {Error} when the schema gives none.
 */
export function requestExamples({ id, operationId, body }: Endpoint): NamedExample[] {
  return body === undefined ? [] : named(`${operationId}.request`, body, `the body of ${id}`);
}

/**
 * The examples of one success response, as its schema's metadata gives them.
 * @throws {Error} when the schema gives none.
 */
export function responseExamples(
  { id, operationId }: Endpoint,
  status: string,
  schema: z.core.$ZodType,
): NamedExample[] {
  return named(`${operationId}.${status}`, schema, `the response ${status} of ${id}`);
}

/**
 * The examples of a success response in another format than its first.
 * @throws {Error} when the schema gives none.
 */
export function formatExamples(
  { id, operationId }: Endpoint,
  status: string,
  mediaType: string,
  schema: z.core.$ZodType,
): NamedExample[] {
  const name = `${operationId}.${status}.${mediaType.split("/")[1]?.replaceAll("+", "-")}`;
  return named(name, schema, `the response ${status} of ${id} as ${mediaType}`);
}

/** The examples of what an endpoint sends later. */
export function callbackExamples({ id, callback }: Endpoint): NamedExample[] {
  return callback === undefined ? [] : named(callback.name, callback.body, `the callback of ${id}`);
}

/** The body of an error whose place of refusal has nothing more exact to say, named by the code. */
export function errorExample(code: Code): NamedExample {
  const { status, message } = errorRow(code);
  return { name: code, value: { status, code, message } };
}

/** The examples of a media type: references to those among the components. */
export function referencesTo(examples: readonly NamedExample[]): Record<string, { $ref: string }> {
  return Object.fromEntries(examples.map(({ name }) => [name, reference("examples", name)]));
}

function named(name: string, schema: z.core.$ZodType, place: string): NamedExample[] {
  const examples = z.globalRegistry.get(schema)?.examples;
  if (!Array.isArray(examples) || examples.length === 0) {
    throw new Error(`${place} has no example: add z.meta({ examples: [...] }) to its schema`);
  }
  return examples.map((value: unknown, index) => ({
    name: index === 0 ? name : `${name}.${index + 1}`,
    value,
  }));
}
