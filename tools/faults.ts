import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type Endpoint, failures } from "../shared/endpoint.ts";
import { type Code, errors } from "../shared/errors.ts";
import { eventsFolder } from "./event-files.ts";

const folder = join(eventsFolder, "faults");
const texts = z.record(z.string(), z.string());

const faultSchema = z.strictObject({
  description: z.string(),
  status: z.number(),
  code: z.enum(Object.keys(errors) as [Code, ...Code[]]),
  /** Headers that the request has as well. */
  headers: z.optional(texts),
  /** What the authorizer says instead of the caller; null: the request has no token. */
  caller: z.optional(z.nullable(texts)),
  /** Variables that differ, where the function has them; `TABLE_*` stands for all that begin so. */
  environment: z.optional(texts),
});

/** Something that goes wrong with the request of any event, and how it is then answered: `events/faults/<name>.json`. */
export type Fault = z.infer<typeof faultSchema>;

/** The names of all faults: the code in lower case with dashes, and perhaps more. */
export const faultNames: readonly string[] = readdirSync(folder)
  .map((file) => file.replace(/\.json$/, ""))
  .sort();

/** @throws {Error} naming the faults that there are, when this is none. */
export function readFault(name: string): Fault {
  if (!faultNames.includes(name)) throw new Error(`no fault ${name}; there are ${faultNames.join(", ")}`);
  return faultSchema.parse(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
}

/** Whether a fault makes an endpoint answer with the fault's code: it declares it, and has a caller to go wrong. */
export function canHave({ scope, errors: declared }: Endpoint, { code, caller }: Fault): boolean {
  const codes: readonly Code[] = [...declared, ...failures];
  return codes.includes(code) && (caller === undefined || scope !== null);
}

const eventSchema = z.looseObject({
  headers: z.nullish(texts),
  requestContext: z.looseObject({ authorizer: z.optional(z.looseObject({})) }),
});

/**
 * An event of API Gateway with what a fault changes of the request.
 * @throws {Error} when the fault is about the caller, and the event has none.
 */
export function faultyEvent(event: unknown, { headers, caller }: Pick<Fault, "headers" | "caller">): unknown {
  const { requestContext, ...request } = eventSchema.parse(event);
  const { authorizer, ...context } = requestContext;
  if (caller !== undefined && authorizer === undefined) {
    throw new Error("the event has no caller: its operation needs no token");
  }
  const changed = caller === null ? undefined : { ...authorizer, ...caller };
  return {
    ...request,
    ...(headers === undefined ? {} : { headers: { ...request.headers, ...headers } }),
    requestContext: { ...context, ...(authorizer === undefined ? {} : { authorizer: changed }) },
  };
}

/**
 * The variables of a function that a fault changes, with their values under it.
 * @param variables the function's own.
 */
export function faultyVariables(
  { environment = {} }: Fault,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const changed = Object.entries(environment).flatMap(([pattern, value]) =>
    Object.keys(variables).flatMap((name) => (matches(pattern, name) ? [[name, value] as const] : [])),
  );
  return Object.fromEntries(changed);
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
