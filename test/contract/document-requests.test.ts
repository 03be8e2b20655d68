import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { tokenWith } from "../support/client.ts";
import { documentedOperations, partAt, schemaFaults } from "../support/document.ts";
import { type DocumentedRequest, documentedRequests } from "../support/document-requests.ts";
import { runs } from "../support/sample.ts";
import { goodRequests, withSink } from "../support/sample-requests.ts";
import { everyScope } from "../support/scopes.ts";
import { sharedService } from "../support/service.ts";
import { openSink, type TestSink } from "../support/sink.ts";

// For any request that the OpenAPI document allows or forbids, the answer is what the document says.

/**
 * To make the requests of a failure again: `DOCUMENT_SEED=… npx vitest run test/contract/document-requests.test.ts`.
 */
const seed = Number(process.env.DOCUMENT_SEED ?? Math.floor(Math.random() * 2 ** 31));

const atOnce = 8;

let sink: TestSink;

beforeAll(async () => {
  sink = await openSink();
});
afterAll(() => sink.close());

const headerForm = z.object({
  required: z.boolean().default(false),
  schema: z.record(z.string(), z.unknown()),
});

/** What is wrong with an answer to a request, by the document. */
async function faultsIn(request: DocumentedRequest, response: Response): Promise<readonly string[]> {
  const text = await response.text();
  const described = partAt(request.pointer, "responses", String(response.status));
  if (described === undefined) return [`status ${response.status} is not declared`];
  return [
    ...(request.method === "HEAD" ? [] : bodyFaults(described.pointer, response, text)),
    ...headerFaults(described.pointer, response),
    ...(response.ok && isRefusedBySchema(request) ? ["accepted what the schema refuses"] : []),
  ];
}

function bodyFaults(pointer: string, response: Response, text: string): readonly string[] {
  const [mediaType = ""] = (response.headers.get("content-type") ?? "").split(";");
  const media = partAt(pointer, "content", mediaType);
  if (media === undefined) return [`${mediaType} is not declared`];
  const value: unknown = /\bjson$/.test(mediaType) ? JSON.parse(text) : text;
  const faults = schemaFaults(`${media.pointer}/schema`, value);
  return faults.length === 0
    ? []
    : [`the body is not of its schema: ${JSON.stringify(faults).slice(0, 300)}`];
}

function headerFaults(pointer: string, response: Response): readonly string[] {
  const names = Object.keys(partAt(pointer, "headers")?.value ?? {});
  return names.flatMap((name) => {
    const header = partAt(pointer, "headers", name);
    const { required, schema } = headerForm.parse(header?.value);
    const sent = response.headers.get(name);
    if (sent === null) return required ? [`no ${name}`] : [];
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
    return schemaFaults(`${schema.pointer}/schema`, JSON.parse(body)).length > 0;
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
  const tokens = await Promise.all(
    Array.from({ length: Math.ceil(made.length / 500) }, () => tokenWith({ scope: everyScope.join(" ") })),
  );
  const faults: string[] = [];
  const seen = new Map<string, number>();
  const waiting = [...made.entries()];
  const work = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const [index, request] = entry;
      // A caller has two webhook secrets at most, so each that creates one is a new caller.
      const token = request.pointer.endsWith("webhook-secrets/post")
        ? await tokenWith({ scope: everyScope.join(" ") })
        : tokens[index % tokens.length];
      // Some come without a token, or with one that has no scope.
      const authorization =
        index % 29 === 0 ? undefined : index % 31 === 0 ? await tokenWith({ scope: "none" }) : token;
      const response = await fetch(`${sharedService.url}${request.path}`, {
        method: request.method,
        headers: {
          ...request.headers,
          ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
        },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal: AbortSignal.timeout(30_000),
      });
      const kind = `${request.pointer} ${response.ok}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      for (const fault of await faultsIn(request, response)) {
        faults.push(`${fault}: ${request.method} ${request.path} ${JSON.stringify(request).slice(0, 600)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));

  expect(faults.slice(0, 10), `DOCUMENT_SEED=${seed}`).toEqual([]);
  const answered = new Set([...seen.keys()].filter((kind) => kind.endsWith(" true")));
  // Operations that are a caller's own have nothing for these callers, and logins are with made-up passwords.
  const never = /authenticate|operationId/;
  const expected = documentedOperations.filter(({ path }) => !never.test(path)).map(({ pointer }) => pointer);
  const missing = expected.filter((pointer) => !answered.has(`${pointer} true`));
  // A sample may happen to hold no good request of an operation.
  const max = runs(0, Math.floor(expected.length / 2));
  expect(missing.length, `${missing}, DOCUMENT_SEED=${seed}`).toBeLessThanOrEqual(max);
}, 300_000);
