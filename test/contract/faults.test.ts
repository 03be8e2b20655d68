import { type AttributeValue, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { importJWK, SignJWT } from "jose";
import { neighbor } from "ngeohash";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { type EndpointId, endpoints, tables } from "../../functions/areas.ts";
import { issueToken } from "../../functions/oauth2/contract.ts";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { spanAt } from "../../functions/population-density/tiles/span.ts";
import { typicalDay } from "../../functions/population-density/tiles/store.ts";
import { encodeTileDay } from "../../functions/population-density/tiles/tile.ts";
import { TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { TypicalWeek } from "../../functions/population-density/tiles/typical-calendar.ts";
import { configuration } from "../../infra/variables.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { errorBody } from "../../shared/schemas.ts";
import { type MeteredDatabase, openMeteredDatabase, type Units } from "../../tools/bench/metered-database.ts";
import { openDatabase } from "../../tools/local/servers/database.ts";
import type { SampleRequest } from "../../tools/verify/sample-requests.ts";
import { claimsFor, clientCredentials, demoKey, signed } from "../oauth2/test-client.ts";
import { type Answer, claimsOf, sealKeyOf, withSealedSubscription } from "../support/client.ts";
import { boxIn, cellIn, precision } from "../support/densities.ts";
import { type Fault, type FaultyEndpoint, openFaultyEndpoint } from "../support/faulty-endpoint.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { seeded } from "../support/random.ts";
import { isWhole, sampleOf } from "../support/sample.ts";
import { goodRequests } from "../support/sample-requests.ts";

// Under any fault of DynamoDB, a caller gets the normal answer or a retryable 503, in time: from the function, before
// Lambda or API Gateway ends its request. What becomes of an operation that was accepted meanwhile is held by the model
// of deliveries.

/** Tiles of a row that is read in two calls: two days of each are more than a hundred keys. */
const tileCount = 51;
const cellsOfTile = 32;

const hour = 3_600_000;
const week = new TypicalWeek({ timeZone: "Europe/Paris", holidays: [] });
const dayInUtc = (Math.floor(Date.now() / (24 * hour)) + 2) * 24 * hour;
/** Where a typical day of the demo city ends: in summer an hour before the day in UTC does. */
const midnight = dayInUtc - week.hourOf(dayInUtc / hour).ofDay * hour;

/** Requests of an operation, at most. */
const mostOfOperation = 3;

/** What is asked for: a request of `events/`, or another body of one. */
interface Ask extends Pick<SampleRequest, "path" | "claims" | "status"> {
  readonly endpoint: Endpoint;
  /** Made again for each request where one is accepted once. */
  readonly body: string | undefined | (() => Promise<string>);
}

let service: OwnService;
let database: FaultyEndpoint;
let metered: MeteredDatabase;
let sealKey: string;
let signer: { readonly kid: string; readonly key: Parameters<SignJWT["sign"]>[0] };
let asks: readonly Ask[];
let expected: readonly Answer[];
const opened: { close(): Promise<void> }[] = [];

const keep = <T extends { close(): Promise<void> }>(started: T): T => {
  opened.push(started);
  return started;
};

/**
 * Two requests for more than one call of DynamoDB can read, a client's for a token, and those of `events/`; in a
 * sample, one of each of six operations.
 */
async function asksOf(tile: string): Promise<readonly Ask[]> {
  const { path, scope } = retrievePopulationDensity;
  const [startTime, endTime] = [midnight - hour, midnight + hour].map((at) => new Date(at).toISOString());
  // The period of an event is to come for a quarter of an hour at least; all faults may take longer.
  const later = (body: string | undefined) =>
    body?.includes("startTime") ? JSON.stringify({ ...JSON.parse(body), startTime, endTime }) : body;
  const boundary = boxIn(tile, [1, 1], [1.2, cellsOfTile * tileCount - 2]);
  const request = { area: { areaType: "POLYGON", boundary }, startTime, endTime, precision };
  const large = { endpoint: retrievePopulationDensity, path, claims: { scope } };
  const good = (await goodRequests()).filter(({ status }) => status === 200);
  // The document is text that its function holds, and so is the catalogue. In a sample, the two requests stand for
  // their own operation.
  const omitted: readonly EndpointId[] = [
    "openapi/publish",
    ...(isWhole ? [] : (["openapi/catalog", large.endpoint.id] as const)),
  ];
  const others = endpoints.filter(
    ({ id }) => !omitted.includes(id) && good.some(({ endpoint }) => endpoint.id === id),
  );
  return [
    { ...large, status: 200, body: JSON.stringify(request) },
    { ...large, status: 202, body: JSON.stringify({ ...request, sink: "https://sink.example.com/" }) },
    { endpoint: issueToken, path: issueToken.path, claims: { scope }, status: 200, body: demoClientsForm },
    ...sampleOf(others, 6).flatMap(({ id }) =>
      sampleOf(good.filter(({ endpoint }) => endpoint.id === id).slice(0, mostOfOperation), 1).map(
        ({ body, ...ask }) => ({ ...ask, body: later(body) }),
      ),
    ),
  ];
}

/** A request of the demo's client for a token, by an assertion of its own. */
async function demoClientsForm(): Promise<string> {
  const assertion = await signed(
    demoKey(),
    claimsFor({ url: configuration.TOKEN_ISSUER.default }, "demo-client"),
  );
  return new URLSearchParams(clientCredentials(assertion, "qos-profiles:read")).toString();
}

async function store(tile: string): Promise<void> {
  const { tableName, database: client } = service;
  const items: Record<string, AttributeValue>[] = [];
  let next = tile;
  for (let index = 0; index < tileCount; index++) {
    const slots = new TileHour();
    for (let column = 0; column < cellsOfTile; column++) {
      slots.setEstimate(cellIn(1, column), 1_000 + index, 500, 2_000);
    }
    // The hours that are asked for, on both days, by the time zone of the demo city.
    for (const at of [midnight - hour, midnight]) {
      const { weekday, ofDay } = week.hourOf(at / hour);
      const day = spanAt(typicalDay(weekday), ofDay);
      const hours = encodeTileDay(Array.from({ length: 24 }, (_, of) => (of === ofDay ? slots : undefined)));
      items.push(marshall({ tile: `${precision}/${next}`, day, hours, revision: 1 }));
    }
    next = neighbor(next, [0, 1]);
  }
  await Promise.all(
    items.map((Item) => client.send(new PutItemCommand({ TableName: tableName("densities"), Item }))),
  );
}

/** A token of the service's own, which takes a table to verify; of a caller nobody else uses. */
async function token(claims: Ask["claims"]): Promise<string> {
  const all = { ...claimsOf(crypto.randomUUID()), ...claims };
  return await new SignJWT(withSealedSubscription(all, sealKey))
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: signer.kid })
    .sign(signer.key);
}

async function send({ endpoint: { method, scope }, path, claims, body }: Ask): Promise<Answer> {
  const headers = scope === null ? {} : { authorization: `Bearer ${await token(claims)}` };
  const text = typeof body === "function" ? await body() : body;
  return await service.call(path, { method, headers, ...(text === undefined ? {} : { body: text }) });
}

const login = z.looseObject({
  Data: z.looseObject({ access_token: z.string(), UserProfile: z.looseObject({}) }),
});
const operation = z.strictObject({ operationId: z.uuid() });
const pseudonym = z.looseObject({ ppid: z.string() });

/** An answer without what is new each time. */
function lasting({ endpoint: { id } }: Ask, { status, body }: Answer): unknown {
  if (status === 202) return { status, members: Object.keys(operation.parse(body)) };
  // Each request is of another client, which has another pseudonym.
  if (status === 200 && id === "device-identifier/retrieve-ppid") {
    return { status, body: { ...pseudonym.parse(body), ppid: "" } };
  }
  if (status === 200 && id === issueToken.id) return Object.keys(z.looseObject({}).parse(body));
  if (status !== 200 || id !== "profile/authenticate") return { status, body };
  const { Data, ...others } = login.parse(body);
  const { DateLastLogin: _, ...UserProfile } = Data.UserProfile;
  return { status, body: { ...others, Data: { ...Data, access_token: "", UserProfile } } };
}

function describeAsk({ endpoint: { id }, body }: Ask, index: number): string {
  return `${id} ${index} ${String(body).slice(0, 40)}`;
}

beforeAll(async () => {
  const stored = keep(await openDatabase(undefined));
  metered = keep(await openMeteredDatabase(stored.endpoint));
  database = keep(await openFaultyEndpoint(stored.endpoint));
  const environment = {
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE: "100000",
    LOGIN_LIMIT_PER_ACCOUNT: "100000",
    LOGIN_LIMIT_PER_SOURCE: "100000",
  } as const;
  service = keep(await startOwnService(environment, { hasDemoData: true }));
  const jwk = await service.signingKey();
  signer = { kid: jwk.kid, key: await importJWK(jwk, "ES256") };
  sealKey = await sealKeyOf(service.database, service.tableName("pseudonym-keys"));
  // In the South Pacific, which the demo has nothing of.
  const tile = "2h000";
  await store(tile);
  asks = await asksOf(tile);
  // Each starts its function.
  expected = await sendAll(1);
});

afterAll(async () => {
  for (const started of opened.reverse()) await started.close();
});

test("every operation that uses a table is answered as expected without a fault", () => {
  expect(expected.map(({ status }) => status)).toEqual(asks.map(({ status }) => status));
  const text = JSON.stringify(expected[0]);
  expect(text).not.toContain("NO_DATA");
  for (let index = 0; index < tileCount; index++) expect(text).toContain(`"pplDensity":${1_000 + index}`);
});

const refuse = (status: number, refusal: string): Fault => {
  return () => ({ refuse: { status, name: refusal } });
};
const provisioned = refuse(400, "ProvisionedThroughputExceededException");
const throttling = refuse(400, "ThrottlingException");
const limited = refuse(400, "RequestLimitExceeded");
const broken = refuse(500, "InternalServerError");
const hang: Fault = () => "hang";
const reset: Fault = () => "reset";
const cut: Fault = () => "cut";
const page: Fault = () => ({ text: "<html><body>Bad gateway</body></html>" });
const list: Fault = () => ({ text: "[1, 2" });
const lose: Fault = () => "lose";
const pass: Fault = () => "pass";
const delay: Fault = () => ({ delayMilliseconds: 300 });

/** What goes wrong with the first attempt of every call, and not with those that follow. */
const atFirst =
  (fault: Fault): Fault =>
  (call) =>
    call.attempt === 1 ? fault(call) : "pass";

/** So many keys of each batch are read, in turn. */
function reading(...counts: readonly number[]): Fault {
  let batches = 0;
  return ({ operation: called }) => {
    if (called !== "BatchGetItem") return "pass";
    return { readKeys: counts[batches++ % counts.length] ?? 0 };
  };
}

/** What the first does, and what the second does where the first lets pass. */
const either =
  (first: Fault, second: Fault): Fault =>
  async (call) => {
    const behaviour = await first(call);
    return behaviour === "pass" ? second(call) : behaviour;
  };

/**
 * The answers to all requests, of so many operations at a time. Requests of one operation follow each other: locally a
 * function has few execution environments, and while one request times out, the next would wait for its environment.
 */
async function sendAll(atOnce: number): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const waiting = [...new Set(asks.map(({ endpoint }) => endpoint.id))];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      for (const [index, ask] of asks.entries()) {
        if (ask.endpoint.id === id) answers[index] = await send(ask);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return answers;
}

async function under(fault: Fault, atOnce = asks.length): Promise<readonly Answer[]> {
  const before = database.faultCount();
  database.inject(fault);
  try {
    const answers = await sendAll(atOnce);
    expect(database.faultCount()).toBeGreaterThan(before);
    return answers;
  } finally {
    database.inject();
  }
}

/** The lines of the local gateway about requests that no function has answered, or not to their end. */
const unanswered = () =>
  service
    .output()
    .split("\n")
    .filter((line) => /INTEGRATION_TIMEOUT|INTEGRATION_FAILURE|cut off/.test(line));

/** Answers that are not those of a good day, by what was asked. */
function otherwise(answers: readonly Answer[]): (readonly [string, Answer])[] {
  return answers.flatMap((answer, index) => {
    const [ask, good] = [asks[index], expected[index]];
    if (ask === undefined || good === undefined) throw new Error("more answers than requests");
    const isSame = JSON.stringify(lasting(ask, answer)) === JSON.stringify(lasting(ask, good));
    return isSame ? [] : [[describeAsk(ask, index), answer] as const];
  });
}

const brief = (answers: readonly (readonly [string, Answer])[]) =>
  answers.map(([ask, { status, body }]) => `${ask}: ${status} ${JSON.stringify(body).slice(0, 120)}`);

/** That each answer is in time, and is that of a good day or asks to come again. */
function expectUsualOrLater(answers: readonly Answer[]): void {
  expect(unanswered()).toEqual([]);
  const others = otherwise(answers);
  expect(brief(others.filter(([, { status }]) => status !== 503 && status !== 504))).toEqual([]);
  for (const [, { status, body, headers }] of others) {
    expect(errorBody.parse(body)).toMatchObject({ status, code: status === 503 ? "UNAVAILABLE" : "TIMEOUT" });
    if (status === 503) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
}

const random = seeded(20_261_120);
/** Throttles one call in twenty, at most twice in a row. */
const sometimes: Fault = (call) => {
  const kinds = [provisioned, throttling, limited, ...Array(57).fill(pass)];
  return call.attempt < 3 ? kinds[Math.floor(random() * kinds.length)](call) : "pass";
};

const mildCases: readonly (readonly [string, Fault])[] = [
  ["throttles one call in twenty, at most twice in a row", sometimes],
  ["takes 300 ms for each answer", delay],
  ["fails at first", atFirst(broken)],
  ["resets connections at first", atFirst(reset)],
  ["does what it is told and does not say so at first", atFirst(lose)],
  ["reads seven keys of a batch at a time", reading(7)],
  ["reads few keys of a batch, or none", reading(0, 40, 0, 1, 0)],
];

test.each(sampleOf(mildCases, 2))(
  "every operation is answered as usual while DynamoDB %s",
  async (_, fault) => {
    const answers = await under(fault, 4);
    expect(unanswered()).toEqual([]);
    expect(brief(otherwise(answers))).toEqual([]);
  },
);

test("every operation is answered as usual, or in time with 503 or 504, while each table gives one unit a second", async () => {
  const limit = (units?: Units) => {
    for (const { name } of tables) metered.limit(service.tableName(name), units);
  };
  limit({ reads: 1, writes: 1 });
  database.passTo(metered.url);
  try {
    const answers = await sendAll(asks.length);
    expect(metered.throttledCalls()).toBeGreaterThan(asks.length);
    expectUsualOrLater(answers);
  } finally {
    database.passTo();
    limit();
  }
});

// Last: an execution environment that has retried in vain for a while has few retries left, until many calls succeed.
const severeCases: readonly (readonly [string, Fault])[] = [
  ["exceeds its provisioned throughput", provisioned],
  ["throttles", throttling],
  ["fails", broken],
  ["hangs", hang],
  ["resets connections", reset],
  ["ends answers half-way", cut],
  ["answers with a page", page],
  ["answers with broken JSON", list],
  ["does what it is told and does not say so", lose],
  ["throttles at first", atFirst(throttling)],
  ["exceeds its provisioned throughput at first", atFirst(provisioned)],
  ["answers with a page at first", atFirst(page)],
  ["hangs at first, and reads no key of a batch", either(reading(0), atFirst(hang))],
];

test.each(sampleOf(severeCases, 2))(
  "every operation is answered as usual, or in time with 503 or 504, while DynamoDB %s",
  async (_, fault) => {
    const answers = await under(fault);
    expectUsualOrLater(answers);
  },
);

test("every operation is answered as usual again when DynamoDB has recovered", async () => {
  // Where an environment has no retries left, its first request may still meet a connection that the fault has broken.
  await vi.waitFor(async () => expect(brief(otherwise(await sendAll(4)))).toEqual([]), {
    timeout: 100_000,
    interval: 1_000,
  });
});
