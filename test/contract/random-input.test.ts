import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import {
  endpoints as apiEndpoints,
  type EndpointId,
  type ProtocolEndpointId,
  protocolEndpoints,
} from "../../functions/areas.ts";
import { assertionType, jwtBearer } from "../../functions/oauth2/rules.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { errorBody } from "../../shared/schemas.ts";
import { anyText } from "../support/any-text.ts";
import { call, tokenWith } from "../support/client.ts";
import { isWhole, runs, sampleOf } from "../support/sample.ts";
import { goodRequests } from "../support/sample-requests.ts";
import { words } from "../support/words.ts";
import { type Answered, changingCaller, sendAll, type WireRequest } from "./many-requests.ts";

// For any bytes, the service answers as it declares, and never with a failure of its own. What the OpenAPI
// document allows and forbids is sent by `document-requests.test.ts`.

/** To make the requests of a failure again: `RANDOM_INPUT_SEED=… npx vitest run test/contract/random-input.test.ts`. */
const seed = Number(process.env.RANDOM_INPUT_SEED ?? Math.floor(Math.random() * 2 ** 31));

const endpoints = [...apiEndpoints, ...protocolEndpoints];
type Id = EndpointId | ProtocolEndpointId;

/** How many of an operation. A login whose body is good costs a quarter of a second of hashing. */
const count = runs(1_200, 20);
const counts: Readonly<Partial<Record<Id, number>>> = {
  "profile/authenticate": runs(260, 6),
  "qos-profiles/retrieve": runs(1_400, 30),
  "qos-profiles/get-by-name": runs(900, 20),
  "population-density/retrieve": runs(1_400, 30),
  "keys/publish": runs(120, 6),
  "openapi/publish": runs(60, 4),
  "oauth2/metadata": runs(60, 4),
};

/** What the gateway answers with instead of any function. */
const ofGateway: readonly Code[] = ["NOT_FOUND", "METHOD_NOT_ALLOWED", "INVALID_ARGUMENT", "UNAUTHENTICATED"];

interface RandomRequest extends WireRequest {
  readonly endpoint: Endpoint;
}

/** Text that programs are known to fail on. */
const oddText = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.constantFrom(
    ...["", " ", "\u0000", "\ud800", "\u202e", "+34600000001\n", "' OR 1=1 --", "#name = :value"],
    ...words("__proto__ constructor null 2023-02-30 -000001-01-01T00:00:00Z 2026-13-01T25:61:61Z"),
    "9".repeat(400),
    "é".repeat(3_000),
  ),
);

const good200 = (await goodRequests()).filter(({ status }) => status === 200);

/** Bodies of an operation that are answered with 200, for bytes to be changed in. */
function goodBodiesOf(id: Id): readonly Buffer[] {
  // An address of the wrong type keeps it from being hashed for, until a changed byte makes it another.
  if (id === "profile/authenticate") return [asText({ emailaddress: ["nobody@example.com"], password: "p" })];
  return good200
    .filter(({ endpoint }) => endpoint.id === id)
    .flatMap(({ body }) => (body === undefined ? [] : [Buffer.from(body)]));
}

const byte = fc.oneof(
  fc.nat(255),
  fc.constantFrom(0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x00, 0xff, 0xc0, 0x2d),
);

const changedBytes = (bytes: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .array(
      fc.tuple(fc.constantFrom("set", "insert", "remove", "repeat", "end"), fc.nat(bytes.length), byte),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((changes) =>
      changes.reduce((text, [change, index, value]) => {
        const [before, after] = [text.subarray(0, index), text.subarray(index)];
        if (change === "set") return Buffer.concat([before, Buffer.of(value), after.subarray(1)]);
        if (change === "insert") return Buffer.concat([before, Buffer.of(value), after]);
        if (change === "remove") return Buffer.concat([before, after.subarray(1 + (value % 9))]);
        if (change === "repeat") return Buffer.concat([before, after.subarray(0, 20), after]);
        return value % 4 === 0 ? before : text;
      }, bytes),
    );

const asText = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "null");

/** JSON in which members are named twice, or are those every object has. */
const withOwnNames = (text: Buffer) =>
  Buffer.from(text.toString().replace("{", '{"__proto__":{"device":1},'));

/** Half a character has no percent-encoding. */
const encoded = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));

/** A form of the token endpoint, with parameters that are good, odd, twice or not at all. */
const tokenForm = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constant("grant_type"), fc.constantFrom("client_credentials", jwtBearer)),
      fc.tuple(fc.constant("client_assertion_type"), fc.constant(assertionType)),
      fc.tuple(
        fc.constantFrom("client_assertion", "assertion", "scope", "client_id", "client_secret"),
        fc.oneof(oddText, fc.constant("eyJhbGciOiJub25lIn0.e30.AA")),
      ),
      fc.tuple(oddText, oddText),
    ),
    { maxLength: 7 },
  )
  .map((pairs) => Buffer.from(pairs.map((pair) => pair.map(encoded).join("=")).join("&")));

function bodyOf(id: Id): fc.Arbitrary<Buffer | undefined> {
  if (id === "oauth2/token") {
    return fc.oneof(tokenForm, tokenForm.chain(changedBytes), oddText.map(asText));
  }
  const goodBodies = goodBodiesOf(id);
  if (goodBodies.length === 0) return fc.constant(undefined);
  const good = fc.constantFrom(...goodBodies);
  return fc.oneof(
    { weight: 1, arbitrary: oddText.map(asText) },
    { weight: 1, arbitrary: good.map(withOwnNames) },
    { weight: 5, arbitrary: good.chain(changedBytes) },
  );
}

/** What a header can hold at all. */
const headerText = fc
  .string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  })
  .filter((text) => !text.includes("\u007f"));

const oddHeaders = fc.record(
  {
    "content-type": fc.oneof(
      fc.constantFrom("text/plain", "application/xml", "multipart/form-data", ""),
      headerText,
    ),
    "x-correlator": fc.oneof(fc.uuid(), headerText),
    "idempotency-key": headerText,
    "accept-encoding": fc.oneof(fc.constantFrom("gzip", "gzip;q=0", "*", "br, gzip;q=x"), headerText),
    accept: headerText,
    "x-forwarded-for": headerText,
    "x-http-method-override": fc.constantFrom("DELETE", "GET"),
    "content-language": headerText,
    cookie: headerText,
  },
  { requiredKeys: [] },
);
const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  fc.constant({}),
  oddHeaders.map((some) => ({ ...some })),
);

/** Values of parameters, good ones of an operation among them. */
const pathText = (id: Id) =>
  fc.oneof(
    ...good200
      .filter(({ endpoint }) => endpoint.id === id)
      .flatMap(({ parameters }) => Object.values(parameters))
      .map((value) => fc.constant(value)),
    fc.constantFrom("Q", "..", "%2e%2e", "%", "%zz", "%00", "%c0%af", "A".repeat(300), "%252e"),
    oddText.map((text) => encoded(text)),
  );

function requests(endpoint: Endpoint, id: Id): fc.Arbitrary<RandomRequest> {
  const query = fc.oneof(
    fc.constant(""),
    fc
      .tuple(
        fc.constantFrom("q", ...Object.keys(endpoint.query ?? {})),
        fc.oneof(oddText, fc.constantFrom("1", "50", "51", "PENDING")),
      )
      .map(([name, text]) => `?${name}=${encoded(text)}`),
  );
  return fc
    .record({
      path: fc.constantFrom(...pathsOf(endpoint)),
      named: pathText(id),
      query,
      headers,
      body: bodyOf(id),
    })
    .map(({ path, named, query: asked, ...others }) => ({
      endpoint,
      method: endpoint.method,
      path: `${path.replace(/\{[^}]+\}/, named)}${asked}`,
      ...others,
    }));
}

/** What is wrong with an answer. */
function faultsIn({ endpoint }: RandomRequest, { status, text }: Answered): readonly string[] {
  if (status >= 500 || status < 200) return [`status ${status}`];
  if (status < 400) return Object.hasOwn(endpoint.responses, status) ? [] : [`status ${status}`];
  const body = z.safeParse(errorBody, jsonIn(text));
  if (!body.success) return [`status ${status} without the body of an error`];
  const { code, status: reported } = body.data;
  const known = [...endpoint.errors, ...ofGateway].find((declared) => declared === code);
  if (known === undefined) return [`${code}, which is not declared`];
  const isConsistent = reported === status && errorRow(known).status === status;
  return isConsistent ? [] : [`${code} with status ${status}`];
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

test("every random request is answered as its operation declares", async () => {
  const made = endpoints.flatMap((endpoint, index) =>
    fc.sample(requests(endpoint, endpoint.id), { numRuns: counts[endpoint.id] ?? count, seed: seed + index }),
  );
  expect(made.length).toBeGreaterThanOrEqual(runs(6_000, 240));
  const refused = new Set<string>();
  const caller = changingCaller();

  const faults = await sendAll(
    made,
    async ({ endpoint }) => (endpoint.scope === null ? undefined : await caller()),
    (request, answer) => {
      if (Math.floor(answer.status / 100) === 4) refused.add(request.endpoint.id);
      return faultsIn(request, answer);
    },
  );

  expect(faults.slice(0, 10), `RANDOM_INPUT_SEED=${seed}`).toEqual([]);
  // A sample may happen to hold no bad request of an operation.
  const wanted = isWhole ? endpoints : [];
  expect(
    wanted.map(({ id }) => id).filter((id) => !refused.has(id)),
    `RANDOM_INPUT_SEED=${seed}`,
  ).toEqual([]);
});

test("after the random requests, every endpoint answers a request of events/ with the status that its file names", async () => {
  const others: string[] = [];
  const asked = endpoints.flatMap(({ id }) =>
    sampleOf(
      good200.filter(({ endpoint }) => endpoint.id === id),
      1,
    ),
  );
  for (const { file, endpoint, path, headers: sent, body, claims, status } of asked) {
    const token = endpoint.scope === null ? {} : { token: await tokenWith(claims) };
    const request = {
      method: endpoint.method,
      headers: sent,
      ...token,
      ...(body === undefined ? {} : { body }),
    };
    const answer = await call(path, request);
    if (answer.status !== status) others.push(`${file}: ${answer.status}`);
  }
  expect(others).toEqual([]);
});
