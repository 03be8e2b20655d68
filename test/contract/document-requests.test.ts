import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { tokenWith } from "../support/client.ts";
import { documentedOperations, partAt, schemaFaults } from "../support/document.ts";
import { runs } from "../support/sample.ts";
import { goodRequests, withSink } from "../support/sample-requests.ts";
import { everyScope } from "../support/scopes.ts";
import { openSink, type TestSink } from "../support/sink.ts";
import { type DocumentedRequest, documentedRequests } from "./documented-requests.ts";
import { type Answered, changingCaller, sendAll } from "./many-requests.ts";

// For any request that the OpenAPI document allows or forbids, the answer is what the document says.

/**
 * To make the requests of a failure again: `DOCUMENT_SEED=… npx vitest run test/contract/document-requests.test.ts`.
 */
const seed = Number(process.env.DOCUMENT_SEED ?? Math.floor(Math.random() * 2 ** 31));

let sink: TestSink;

beforeAll(async () => {
  sink = await openSink();
});
afterAll(() => sink.close());

const headerForm = z.object({
  required: z.boolean().default(false),
  schema: z.record(z.string(), z.unknown()),
});

const isOk = ({ status }: Answered) => status >= 200 && status < 300;

/** What is wrong with an answer to a request, by the document. */
function faultsIn(request: DocumentedRequest, answer: Answered): readonly string[] {
  const described = partAt(request.pointer, "responses", String(answer.status));
  if (described === undefined) return [`status ${answer.status} is not declared`];
  return [
    ...(request.method === "HEAD" ? [] : bodyFaults(described.pointer, answer)),
    ...headerFaults(described.pointer, answer),
    ...(isOk(answer) && isRefusedBySchema(request) ? ["accepted what the schema refuses"] : []),
  ];
}

function bodyFaults(pointer: string, { headers, text }: Answered): readonly string[] {
  const [mediaType = ""] = (headers["content-type"] ?? "").split(";");
  const media = partAt(pointer, "content", mediaType);
  if (media === undefined) return [`${mediaType} is not declared`];
  const value: unknown = /\bjson$/.test(mediaType) ? JSON.parse(text) : text;
  const faults = schemaFaults(`${media.pointer}/schema`, value);
  return faults.length === 0
    ? []
    : [`the body is not of its schema: ${JSON.stringify(faults).slice(0, 300)}`];
}

function headerFaults(pointer: string, { headers }: Answered): readonly string[] {
  const names = Object.keys(partAt(pointer, "headers")?.value ?? {});
  return names.flatMap((name) => {
    const header = partAt(pointer, "headers", name);
    const { required, schema } = headerForm.parse(header?.value);
    const sent = headers[name.toLowerCase()];
    if (sent === undefined) return required ? [`no ${name}`] : [];
    const value = schema.type === "integer" ? Number(sent) : sent;
    return schemaFaults(`${header?.pointer}/schema`, value).length === 0
      ? []
      : [`${name} is not of its schema`];
  });
}

function isRefusedBySchema({ pointer, body }: DocumentedRequest): boolean {
  const schema = partAt(pointer, "requestBody", "content", "application/json");
  if (schema === undefined || body === undefined) return false;
  try {
    return schemaFaults(`${schema.pointer}/schema`, JSON.parse(body.toString())).length > 0;
  } catch {
    return true;
  }
}

/** Each costs a quarter of a second of hashing. */
const isLogin = (path = "") => path.endsWith("/authenticate");

test("every request made from the OpenAPI document is answered as the document says", async () => {
  const sinks = fc.oneof(
    fc.constant(sink.urlOf()),
    fc.constantFrom("", "http://", "https://127.0.0.1", "https://host.invalid/", "file:///etc"),
  );
  const good = (await goodRequests()).map((request) => withSink(request, () => sink.urlOf()));
  const made = documentedRequests(good, sinks).flatMap((requests, index) =>
    fc.sample(requests, {
      numRuns: isLogin(documentedOperations[index]?.path) ? runs(30, 2) : runs(150, 6),
      seed: seed + index,
    }),
  );
  const answered = new Set<string>();
  const caller = changingCaller();
  const tokenFor = async ({ pointer }: DocumentedRequest, index: number) => {
    // Some come without a token, or with one that has no scope.
    if (index % 29 === 0) return undefined;
    if (index % 31 === 0) return await tokenWith({ scope: "none" });
    // A caller has two webhook secrets at most, so each that creates one is a new caller.
    if (pointer.endsWith("webhook-secrets/post")) return await tokenWith({ scope: everyScope.join(" ") });
    return await caller();
  };

  const faults = await sendAll(made, tokenFor, (request, answer) => {
    if (isOk(answer)) answered.add(request.pointer);
    return faultsIn(request, answer);
  });

  expect(faults.slice(0, 10), `DOCUMENT_SEED=${seed}`).toEqual([]);
  // Operations that are a caller's own have nothing for these callers; passwords and assertions are made up.
  const never = /authenticate|operationId|oauth2/;
  const expected = documentedOperations.filter(({ path }) => !never.test(path)).map(({ pointer }) => pointer);
  const missing = expected.filter((pointer) => !answered.has(pointer));
  // A sample may happen to hold no good request of an operation.
  const max = runs(0, Math.floor(expected.length / 2));
  expect(missing.length, `${missing}, DOCUMENT_SEED=${seed}`).toBeLessThanOrEqual(max);
});
