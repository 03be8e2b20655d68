import { type EndpointId, endpoints } from "../../functions/areas.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { nearestName } from "../../shared/nearest-name.ts";
import { send } from "../calls/send.ts";
import { jsonIn } from "../json-text.ts";

/** One request to an operation. */
export interface OperationCall {
  readonly url: string;
  readonly operationId: string;
  /** Parameters of the path and the query, and the members of the body. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer; JSON is indented. */
export interface OperationAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Calls an operation of the contract, and reads its answer.
 * @throws {Error} as `callOperation`.
 */
export async function answer(call: OperationCall): Promise<OperationAnswer> {
  const response = await callOperation(call);
  return { status: response.status, headers: response.headers, body: indented(await response.text()) };
}

/**
 * Calls an operation of the contract.
 * @throws {Error} for an unknown operation, a missing parameter or token, and when nothing answers.
 */
export async function callOperation({
  url,
  operationId,
  request,
  token,
  headers,
}: OperationCall): Promise<Response> {
  const operation = operationOf(operationId);
  if (operation.scope !== null && token === undefined) {
    throw new Error(`${operationId} needs a token: log in with --as, or give --token or NCS_TOKEN`);
  }
  const left = { ...request };
  const take = (name: string) => {
    const value = left[name];
    delete left[name];
    return value;
  };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = take(name);
    if (value === undefined) throw new Error(`${operationId} needs ${name}: '{"${name}": …}'`);
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams();
  for (const name of Object.keys(operation.query ?? {})) {
    const value = take(name);
    if (value !== undefined) query.set(name, String(value));
  }
  const hasBody = operation.body !== undefined;
  const unknown = Object.keys(left);
  if (!hasBody && unknown.length > 0) throw new Error(`${operationId} has no ${unknown.join(", ")}`);
  return await send(`${url}${path}${query.size === 0 ? "" : `?${query}`}`, {
    method: operation.method,
    headers: headersOf({
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...headers,
    }),
    ...(hasBody ? { body: JSON.stringify(left) } : {}),
  });
}

/** @throws {Error} without the value, which may be a token. */
function headersOf(fields: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    try {
      headers.set(name, value);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const given = name === "authorization" ? "the token" : "--header";
      throw new Error(
        `${given} has characters that HTTP does not allow: expected one line of printable ASCII`,
      );
    }
  }
  return headers;
}

function operationOf(operationId: string): Endpoint & { readonly id: EndpointId } {
  const found = endpoints.find((one) => one.operationId === operationId || one.id === operationId);
  if (found !== undefined) return found;
  const known = endpoints.map(({ operationId }) => operationId);
  const nearest = nearestName(operationId, known);
  const advice = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new Error(`there is no operation ${operationId}.${advice} There are:\n\n${operationTable()}`);
}

/** All operations in columns: what they are called, and where they are. */
export function operationTable(): string {
  const width = Math.max(...endpoints.map(({ operationId }) => operationId.length));
  return endpoints
    .map(({ operationId, method, path }) => `${operationId.padEnd(width)}  ${method.padEnd(6)}  ${path}`)
    .join("\n");
}

function indented(text: string): string {
  const value = jsonIn(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
