import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { type EndpointId, endpoints } from "../../functions/areas.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { type Code, errors } from "../../shared/errors.ts";
import { type EventFile, readEventFile } from "../event-files.ts";

const received = z.object({
  httpMethod: z.string(),
  path: z.string(),
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
        expires: z.coerce.number(),
      })
      .optional(),
  }),
});

/** A request of `events/` as a caller of the demo data sends it, and the answer that its file's name says. */
export interface SampleRequest {
  /** Below `events/`. */
  readonly file: string;
  readonly endpoint: Endpoint & { readonly id: EndpointId };
  readonly status: number;
  /** Of the error; undefined for a success. */
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

const folder = fileURLToPath(new URL("../../events", import.meta.url));

const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".json") && !file.endsWith(".env.json"))
  .sort();

/** Every request of `events/` that its function answers itself in the stack's environment, by the file's name. */
export async function sampleRequests(): Promise<readonly SampleRequest[]> {
  const read = files.map(async (file) => requestOf(file, await readEventFile(join(folder, file))));
  return (await Promise.all(read)).flatMap((request) => request ?? []);
}

function requestOf(file: string, { functionId, status, outcome, event, environment }: EventFile) {
  const { body, isBase64Encoded, requestContext, ...sent } = received.parse(event);
  const endpoint = endpoints.find(({ id }) => id === functionId);
  if (endpoint === undefined || environment !== undefined) return undefined;
  const { scope = "", subscription, client, expires = 0 } = requestContext.authorizer ?? {};
  const query = new URLSearchParams(sent.queryStringParameters ?? {}).toString();
  const isAboutOperation = sent.pathParameters?.operationId !== undefined;
  const isAllowed = scope.split(" ").includes(`${endpoint.scope}`) && expires * 1_000 > Date.now();
  if (endpoint.scope !== null && !isAllowed) return undefined;
  const {
    authorization: _,
    "content-type": __,
    ...headers
  } = Object.fromEntries(
    Object.entries(sent.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    file,
    endpoint,
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
