import * as z from "zod";
import { type EndpointId, endpoints } from "../../functions/areas.ts";
import { type Endpoint, endpointAt } from "../../shared/endpoint.ts";
import { type Code, errors } from "../../shared/errors.ts";
import { type EventFile, eventFileNames, readNamedEvent } from "../event-files.ts";
import { faultNames, faultyEvent, readFault } from "../faults.ts";

const received = z.object({
  httpMethod: z.string(),
  path: z.string(),
  resource: z.string(),
  pathParameters: z.record(z.string(), z.string()).nullish(),
  queryStringParameters: z.record(z.string(), z.string()).nullish(),
  headers: z.record(z.string(), z.string()).nullable(),
  body: z.string().nullable(),
  isBase64Encoded: z.boolean(),
  requestContext: z.object({
    authorizer: z
      .object({
        client: z.string(),
        scope: z.string(),
        subscription: z.string().optional(),
      })
      .optional(),
  }),
});

/** A request of `events/` as a caller of the demo data sends it, and the answer that is expected. */
export interface SampleRequest {
  /** Below `events/`; of a fault, the name that its event would have there. */
  readonly file: string;
  /** As it is at the path of the request. */
  readonly endpoint: Endpoint & { readonly id: EndpointId };
  readonly status: number;
  /** Code of the error; undefined for a success. */
  readonly code: Code | undefined;
  /** The endpoint's path or its alias, with the values of its parameters and the query. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Without the token, and what is sent with every body. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its times are about now. */
  readonly body: string | undefined;
  /** What the token says of its caller; its client if it matters, as an operation is its caller's own. */
  readonly claims: { readonly scope: string; readonly subscription?: string; readonly client_id?: string };
}

/** Faults of the request itself, which any service has under any settings. */
const faults = faultNames
  .map((name) => ({ name, ...readFault(name) }))
  .filter(({ headers }) => headers !== undefined);

/**
 * Every request of `events/`, and the first success of each endpoint with each fault that a header is: what their
 * functions answer in the stack's environment.
 */
export async function sampleRequests(): Promise<readonly SampleRequest[]> {
  const files = await Promise.all(
    eventFileNames().map(async (name) => ({ name, ...(await readNamedEvent(name)) })),
  );
  return endpoints.flatMap((endpoint) => {
    const own = files.filter(({ functionId }) => functionId === endpoint.id);
    const good = own.filter(({ status }) => status < 300).slice(0, 1);
    const faulty = good.flatMap(({ functionId, event }) =>
      faults.map(({ name, status, headers }) => ({
        name: `${functionId}.${status}-${name}.json`,
        functionId,
        status,
        outcome: name,
        event: faultyEvent(event, { headers }),
      })),
    );
    return [...own, ...faulty].map(({ name, ...file }) => requestOf(endpoint, name, file));
  });
}

function requestOf(
  endpoint: SampleRequest["endpoint"],
  file: string,
  { status, outcome, event }: EventFile,
): SampleRequest {
  const { body, isBase64Encoded, requestContext, ...sent } = received.parse(event);
  const { scope = "", subscription, client } = requestContext.authorizer ?? {};
  const query = new URLSearchParams(sent.queryStringParameters ?? {}).toString();
  const isAboutOperation = sent.pathParameters?.operationId !== undefined;
  const {
    authorization: _,
    "content-type": __,
    ...headers
  } = Object.fromEntries(
    Object.entries(sent.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    file,
    endpoint: endpointAt(endpoint, sent.resource),
    status,
    code: status < 400 ? undefined : codeOf(outcome),
    path: `${sent.path}${query === "" ? "" : `?${query}`}`,
    parameters: sent.pathParameters ?? {},
    headers,
    body: body === null ? undefined : Buffer.from(body, isBase64Encoded ? "base64" : "utf8").toString(),
    claims: {
      scope,
      ...(subscription === undefined ? {} : { subscription }),
      ...(isAboutOperation && client !== undefined ? { client_id: client } : {}),
    },
  };
}

/** The code with which the case of a file begins: the longest, as one may begin like another. */
function codeOf(outcome: string): Code {
  const codes = (Object.keys(errors) as Code[]).filter((code) =>
    outcome.startsWith(code.toLowerCase().replaceAll(/[._]/g, "-")),
  );
  const [code] = codes.sort((one, other) => other.length - one.length);
  if (code === undefined) throw new Error(`no code of the catalogue begins ${outcome}`);
  return code;
}
