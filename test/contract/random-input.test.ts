import { Agent, request as httpRequest } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
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
import { tokenWith } from "../support/client.ts";
import { runs } from "../support/sample.ts";
import { goodRequests } from "../support/sample-requests.ts";
import { everyScope } from "../support/scopes.ts";
import { sharedService } from "../support/service.ts";
import { openSink, type TestSink } from "../support/sink.ts";

// Whatever is sent, the service answers as it declares, and never with a failure of its own.

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

/** Operations that are the caller's own, and these callers have none; and logins and clients that prove nothing. */
const neverAnswered: readonly Id[] = [
  "oauth2/token",
  "profile/authenticate",
  "population-density/read-operation",
  "population-density/cancel-operation",
  "population-density/redeliver-operation",
];

const atOnce = 16;

/** Few enough that none comes near what a caller may send in a minute. */
const requestsOfCaller = 200;

/** What the gateway answers with in the function's stead, whatever the operation declares. */
const ofGateway: readonly Code[] = ["NOT_FOUND", "METHOD_NOT_ALLOWED", "INVALID_ARGUMENT", "UNAUTHENTICATED"];

interface RandomRequest {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
}

let sink: TestSink;

beforeAll(async () => {
  sink = await openSink();
});
afterAll(async () => {
  agent.destroy();
  await sink.close();
});

const hour = 3_600_000;
const at = (hours: number) =>
  new Date((Math.floor(Date.now() / hour) + hours) * hour).toISOString().replace(".000Z", "Z");

/** Text that programs are known to fail on. */
const oddText = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.constantFrom(
    "",
    " ",
    "\u0000",
    "\ud800",
    "\u202e",
    "__proto__",
    "constructor",
    "null",
    "+34600000001\n",
    "2023-02-30",
    "-000001-01-01T00:00:00Z",
    "2026-13-01T25:61:61Z",
    "9".repeat(400),
    "é".repeat(3_000),
    "' OR 1=1 --",
    "#name = :value",
  ),
);

const oddNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    -1,
    65_535,
    65_536,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    1e308,
    -1e308,
    5e-324,
    90,
    180,
    -180,
  ),
);

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  oddNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { a: {} }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: 10, max: 400 }).map((depth) => {
    let deep: unknown = {};
    for (let level = 0; level < depth; level++) deep = level % 2 === 0 ? [deep] : { deep };
    return deep;
  }),
);

const orOdd = (...good: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: oddValue });

/** Some of the members, each with its value or an odd one, or nothing of the kind. */
function object(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  const known = fc.record(members, { requiredKeys: [] });
  const more = fc.dictionary(
    fc.oneof(fc.constantFrom("__proto__", "constructor", "toString"), oddText),
    oddValue,
    {
      maxKeys: 2,
    },
  );
  return fc.oneof(
    { weight: 6, arbitrary: fc.record(members) },
    { weight: 3, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, more).map(([one, other]) => ({ ...other, ...one })) },
    { weight: 1, arbitrary: oddValue },
  );
}

const phoneNumber = orOdd(
  "+34600000001",
  "+34600000002",
  "+34600000012",
  "+34600000099",
  "+346",
  "34600000001",
);

const device = object({
  phoneNumber,
  ipv4Address: object({
    publicAddress: orOdd("203.0.113.10", "203.0.113.20", "203.0.113.010", "203.0.113.0/24"),
    privateAddress: orOdd("10.0.0.10", "10.0.0.20", "::1"),
    publicPort: fc.oneof(orOdd(59_765, 40_000, 0, 65_535), oddNumber),
  }),
  ipv6Address: orOdd("2001:db8:1:1::1", "2001:DB8:2:2:0:0:0:1", "2001:db8::/64", "fe80::1%eth0"),
  networkAccessIdentifier: orOdd("123456789@example.com", "@", "a@b"),
});

const latitude = fc.oneof(fc.double({ min: 45.74, max: 45.76, noNaN: true }), oddNumber);
const longitude = fc.oneof(fc.double({ min: 4.85, max: 4.87, noNaN: true }), oddNumber);
const good = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const point = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.record({ latitude: good(45.745, 45.755), longitude: good(4.855, 4.865) }),
  },
  { weight: 1, arbitrary: object({ latitude, longitude }) },
);

/** A sink that is refused, or one of this machine. */
const sinks = () =>
  fc.oneof(
    fc.constantFrom(
      "",
      "http://",
      "https://127.0.0.1",
      "https://host.invalid/",
      "http://[::1]:80/",
      "file:///etc",
      sink.urlOf(),
    ),
    oddValue.filter((value) => typeof value !== "string"),
  );

const population = () =>
  object({
    area: object({
      areaType: orOdd("POLYGON", "POLYGON", "CIRCLE"),
      boundary: fc.oneof(
        { weight: 8, arbitrary: fc.array(point, { minLength: 3, maxLength: 5 }) },
        { weight: 1, arbitrary: fc.array(point, { maxLength: 20 }) },
        { weight: 1, arbitrary: oddValue },
      ),
    }),
    startTime: orOdd(at(1), at(2), at(-5), at(-9_999), at(9_999), "2026-02-30T00:00:00Z"),
    endTime: orOdd(at(3), at(4), at(-3), at(150), at(400)),
    precision: fc.oneof(orOdd(7, 6, 5, 3, 12, 13), oddNumber),
  });

const bodies: Readonly<Partial<Record<Id, () => fc.Arbitrary<unknown>>>> = {
  "profile/authenticate": () => object({ emailaddress: oddValue, password: oddValue }),
  "qos-profiles/retrieve": () =>
    object({ device, name: orOdd("QOS_E", "QOS_X", "Q"), status: orOdd("ACTIVE", "INACTIVE", "NONE") }),
  "population-density/retrieve": () =>
    fc.oneof(
      { weight: 2, arbitrary: population() },
      {
        weight: 1,
        arbitrary: fc
          .tuple(
            population(),
            fc.record(
              {
                sink: sinks(),
                sinkCredential: object({
                  credentialType: orOdd("ACCESSTOKEN", "PLAIN"),
                  accessToken: orOdd("token"),
                  accessTokenExpiresUtc: orOdd(at(9)),
                  accessTokenType: orOdd("bearer", "Bearer", "mac"),
                }),
              },
              { requiredKeys: ["sink"] },
            ),
          )
          .map(([asked, more]) =>
            asked !== null && typeof asked === "object" ? { ...asked, ...more } : asked,
          ),
      },
    ),
  "number-recycling/check": () =>
    object({ specifiedDate: orOdd("2023-12-22", "2999-01-01", "1582-10-10", "2023-02-30"), phoneNumber }),
  "device-identifier/retrieve": () => object({ device }),
};

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

/** A part of a JWT: JSON as it must be encoded, or another text. */
const jwtPart = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 9, arbitrary: value.map((one) => asText(one).toString("base64url")) },
    { weight: 1, arbitrary: oddText },
  );

/** An assertion that nobody has signed, of the demo's client or of nobody. */
const assertion = fc
  .tuple(
    jwtPart(object({ alg: orOdd("ES256", "none", "HS256", "RS256"), kid: orOdd("demo"), crit: oddValue })),
    jwtPart(
      object({
        iss: orOdd("demo-client", "nobody"),
        sub: orOdd("demo-client", "tel:+34600000001"),
        aud: orOdd("https://network-capabilities.example"),
        exp: fc.oneof(orOdd(Math.floor(Date.now() / 1_000) + 60), oddNumber),
        jti: orOdd("1"),
        scope: orOdd("qos-profiles:read"),
      }),
    ),
    fc.oneof(fc.constant("AA".repeat(43)), oddText),
  )
  .map((parts) => parts.join("."));

/** A form of the token endpoint, with each parameter as it should be, odd, twice or not at all. */
const tokenForm = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constant("grant_type"), orOdd("client_credentials", jwtBearer)),
      fc.tuple(fc.constantFrom("client_assertion", "assertion"), assertion),
      fc.tuple(fc.constant("client_assertion_type"), orOdd(assertionType)),
      fc.tuple(fc.constantFrom("scope", "client_id", "client_secret"), oddText),
      fc.tuple(oddText, oddText),
    ),
    { maxLength: 7 },
  )
  .map((pairs) =>
    Buffer.from(pairs.map((pair) => pair.map((one) => encoded(String(one))).join("=")).join("&")),
  );

function bodyOf(id: Id): fc.Arbitrary<Buffer | undefined> {
  if (id === "oauth2/token") {
    return fc.oneof(tokenForm, tokenForm.chain(changedBytes), oddValue.map(asText));
  }
  const goodBodies = goodBodiesOf(id);
  if (goodBodies.length === 0) return fc.constant(undefined);
  const changed = fc.constantFrom(...goodBodies).chain(changedBytes);
  const texts = bodies[id]?.().map(asText) ?? changed;
  return fc.oneof(
    { weight: 9, arbitrary: texts },
    { weight: 1, arbitrary: texts.map(withOwnNames) },
    { weight: 10, arbitrary: changed },
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
      path: `${path.replace(/\{[^}]+\}/, named)}${asked}`,
      ...others,
    }));
}

const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

/** Sends a request as it is: `fetch` would mend it. */
function send(request: RandomRequest, token: string): Promise<Outcome> {
  const { hostname, port } = new URL(sharedService.url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        agent,
        hostname,
        port,
        path: request.path,
        method: request.endpoint.method,
        headers: {
          ...request.headers,
          ...(request.endpoint.scope === null ? {} : { authorization: `Bearer ${token}` }),
          ...(request.body === undefined ? {} : { "content-length": request.body.length }),
        },
        timeout: 20_000,
      },
      async (response) => {
        try {
          const bytes = Buffer.concat(await response.toArray());
          const isPlain = response.headers["content-encoding"] === undefined;
          resolve({ status: response.statusCode ?? 0, text: isPlain ? bytes.toString() : "" });
        } catch (error) {
          reject(error);
        }
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", reject);
    sent.end(request.body);
  });
}

/** What is wrong with an answer. */
function faultIn({ endpoint }: RandomRequest, { status, text }: Outcome): string | undefined {
  if (status >= 500 || status < 200) return `status ${status}`;
  if (status < 400) return Object.hasOwn(endpoint.responses, status) ? undefined : `status ${status}`;
  const body = z.safeParse(errorBody, jsonIn(text));
  if (!body.success) return `status ${status} without the body of an error`;
  const { code, status: reported } = body.data;
  const known = [...endpoint.errors, ...ofGateway].find((declared) => declared === code);
  if (known === undefined) return `${code}, which is not declared`;
  return reported === status && errorRow(known).status === status
    ? undefined
    : `${code} with status ${status}`;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describeRequest({ endpoint, path, headers: sent, body }: RandomRequest): string {
  const text = body?.toString("latin1").slice(0, 400) ?? "";
  return `${endpoint.method} ${path} ${JSON.stringify(sent)} ${JSON.stringify(text)}`;
}

test("every random request is answered as its operation declares", async () => {
  const made = endpoints.flatMap((endpoint, index) =>
    fc.sample(requests(endpoint, endpoint.id), { numRuns: counts[endpoint.id] ?? count, seed: seed + index }),
  );
  expect(made.length).toBeGreaterThanOrEqual(runs(6_000, 240));
  // One after another of each operation, so that none of them waits for another's function.
  const waiting = [...made.entries()].sort(
    ([one], [other]) => ((one * 7_919) % made.length) - ((other * 7_919) % made.length),
  );
  const faults: string[] = [];
  const seen = new Map<string, number>();
  let token = "";
  let used = requestsOfCaller;
  const next = async () => {
    if (used++ >= requestsOfCaller) {
      used = 1;
      token = await tokenWith({ scope: everyScope.join(" ") });
    }
    return token;
  };
  const work = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const [, request] = entry;
      try {
        const outcome = await send(request, await next());
        const kind = `${request.endpoint.id} ${Math.floor(outcome.status / 100)}xx`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        const fault = faultIn(request, outcome);
        if (fault !== undefined) faults.push(`${fault}: ${describeRequest(request)}`);
      } catch (error) {
        faults.push(`${error}: ${describeRequest(request)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));

  expect(faults.slice(0, 10), `RANDOM_INPUT_SEED=${seed}`).toEqual([]);
  for (const { id } of endpoints) {
    // A sample may happen to hold no good request of an operation, or no bad one.
    const min = runs(1, 0);
    const is = (kind: string) => (seen.get(`${id} ${kind}`) ?? 0) >= min;
    const isAnswered = neverAnswered.includes(id) || is("2xx");
    expect(isAnswered && is("4xx"), `${id}, RANDOM_INPUT_SEED=${seed}`).toBe(true);
  }
}, 600_000);
