import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { endpoints as apiEndpoints, protocolEndpoints, tables } from "../../functions/areas.ts";
import { jwtBearer } from "../../functions/oauth2/rules.ts";
import { encodeTileDay } from "../../functions/population-density/tiles/tile.ts";
import { TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { countersOf, windowSeconds } from "../../functions/profile/rules.ts";
import { logEntries } from "../../shared/aws/log.ts";
import { keysOf } from "../../shared/devices/keys.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import { hashed } from "../../shared/hash.ts";
import type { BackingServer } from "../../tools/local/servers/backing-server.ts";
import { openQueueServer } from "../../tools/local/servers/queue-server.ts";
import { sampleClient, storeSampleOperations } from "../../tools/sample-operations.ts";
import { cellIn, freshTile, typicalSpans } from "../support/densities.ts";
import { plainDevice } from "../support/device.ts";
import { type FaultyEndpoint, openFaultyEndpoint } from "../support/faulty-endpoint.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { quickHash } from "../support/quick-logins.ts";
import { countingServer } from "../support/signed.ts";
import { openSink, type SinkAnswer, type TestSink } from "../support/sink.ts";

import {
  address,
  canaries,
  found,
  hide,
  imei,
  leavesOf,
  natted,
  password,
  phoneNumber,
  privateAddress,
  sent,
} from "./privacy-canaries.ts";
import { clientKey, deadIssuer, everyFlow, type Flow, issuer, key, keyedClient } from "./privacy-flows.ts";

// Every kind of request is made once, of a service that writes all it ever writes, with values that occur nowhere by
// chance; then everything that was logged, answered to an error or queued is searched for them.

const endpoints: readonly Endpoint[] = [...apiEndpoints, ...protocolEndpoints];

interface Answered {
  readonly flow: Flow;
  readonly ends: string;
  readonly correlator: string;
  readonly body: unknown;
  /** Headers and body, without the correlator. */
  readonly text: string;
}

const line = z.record(z.string(), z.unknown());

let service: OwnService;
let gate: FaultyEndpoint;
let sink: TestSink;
const opened: { close(): Promise<void> }[] = [];
const answers: Answered[] = [];

const logged = () =>
  service
    .output()
    .split("\n")
    .filter((text) => text !== "");
const parsed = new Map<string, z.output<typeof line>>();
const lines = () =>
  logged().map((text) => {
    const known = parsed.get(text) ?? line.parse(JSON.parse(text));
    parsed.set(text, known);
    return known;
  });
const linesOf = (entry: keyof typeof logEntries) => lines().filter(({ id }) => id === logEntries[entry].id);
const metricLines = () => lines().filter((written) => "_aws" in written);
const total = (metric: string, dimension?: Readonly<Record<string, string>>) =>
  metricLines()
    .filter((written) => Object.entries(dimension ?? {}).every(([name, value]) => written[name] === value))
    .reduce((sum, written) => sum + Number(written[metric] ?? 0), 0);
/** The answers that functions gave. */
const served = () => answers.filter(({ flow }) => flow.by !== "gateway");

const keep = <T extends { close(): Promise<void> }>(started: T): T => {
  opened.push(started);
  return started;
};

async function store(table: Parameters<OwnService["put"]>[0], item: Readonly<Record<string, unknown>>) {
  sent.push(JSON.stringify(item));
  await service.put(table, item);
}

async function storeDevice(record: DeviceRecord): Promise<void> {
  for (const identifier of keysOf(record)) await store("devices", { identifier, ...record });
}

async function ask(flow: Flow): Promise<void> {
  const { path, body, authorization } = flow;
  const headers = {
    "x-correlator": crypto.randomUUID(),
    "x-other": "zq-header",
    ...(authorization === undefined ? {} : { authorization }),
    ...flow.headers,
  };
  const text =
    body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : withCanary(body);
  const pathAndQuery = `${path}${path.includes("?") ? "&" : "?"}q=zq-query`;
  sent.push(pathAndQuery, JSON.stringify(headers), String(text));
  const [, token = ""] = /^Bearer (.*)$/.exec(authorization ?? "") ?? [];
  const [, assertion = ""] = /assertion=([^&]+)/.exec(String(text)) ?? [];
  for (const part of `${token}.${assertion}`.split("."))
    if (part.length > 8) canaries.set(part, "a part of a token");
  const answer = await service.call(pathAndQuery, {
    method: flow.method ?? (body === undefined ? "GET" : "POST"),
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  const { code } = z
    .object({ code: z.optional(z.string()) })
    .catch({})
    .parse(answer.body);
  const others = [...answer.headers].filter(([name]) => name !== "x-correlator");
  answers.push({
    flow,
    ends: [answer.status, ...(code === undefined ? [] : [code])].join(" "),
    correlator: answer.headers.get("x-correlator") ?? "",
    body: answer.body,
    text: JSON.stringify([others, answer.body]),
  });
}

function sinkOf(...given: readonly SinkAnswer[]): string {
  const url = `${sink.urlOf(...given)}&key=zq-sink-query`;
  canaries.set(new URL(url).pathname, "the path of a sink");
  return url;
}

function withCanary(body: unknown): string {
  return JSON.stringify(Array.isArray(body) ? body : { ...z.looseObject({}).parse(body), other: "zq-body" });
}

/** Lets the personal data of the demo be found nowhere. */
async function hideDemoData(): Promise<void> {
  // The operations of `events/` have ids and words that logs may have; their sinks are hidden when they are sent.
  const imported = tables.filter(
    ({ name, personalData }) => personalData === true && name !== "density-jobs",
  );
  for (const { name } of imported) {
    const { Items = [] } = await service.database.send(
      new ScanCommand({ TableName: service.tableName(name) }),
    );
    for (const item of Items.map((stored) => unmarshall(stored))) {
      sent.push(leavesOf(item).join("\n"));
      hide(item, `a value in ${name}`);
    }
  }
}

async function storeEverything(good: string, broken: string): Promise<void> {
  const profile = { ID: 1, Username: "zq-user", DateCreated: "2026-01-01T00:00:00Z", IsProfilePublic: true };
  const storeProfile = (EmailAddress: string, passwordHash: string) =>
    store("profiles", {
      address: hashed(EmailAddress.toLowerCase()),
      ...profile,
      EmailAddress,
      passwordHash,
    });
  await storeProfile(address, await quickHash(password));
  await storeProfile(`damaged.${address}`, "zq-damaged");
  const limits = { accountAndSource: 20, source: 300, account: 100 };
  for (const window of [0, windowSeconds]) {
    const at = new Date(Date.now() + window * 1_000);
    const [counter] = countersOf(`throttled.${address}`.toLowerCase(), "127.0.0.1", at, limits);
    await store("login-attempts", { counted: counter?.key, attempts: limits.accountAndSource });
  }
  const day = Math.floor(Date.now() / 86_400_000) + 1;
  const client = hashed(`${issuer} zq-client-over-quota`);
  await store("quotas", { caller: client, day, dayCount: 1e9, minute: day * 1_440, minuteCount: 0 });

  const device = { ...plainDevice, imei, model: "zq-model" };
  const natAddress = { ...natted, privateAddress };
  await storeDevice({
    ...device,
    subscription: "zq-subscription",
    phoneNumber,
    ipv4Addresses: [natAddress],
    ipv6Prefix: "2001:db8:7a7a:9b9b::/64",
  });
  await store("clients", {
    clientId: keyedClient,
    jwks: { keys: [clientKey.jwk] },
    scopes: ["qos-profiles:read"],
    grants: ["client_credentials", jwtBearer],
    purposes: ["dpv:ServiceProvision"],
  });

  const hour = new TileHour();
  hour.setEstimate(cellIn(1, 1), 500, 400, 600);
  const hours = encodeTileDay(Array.from({ length: 24 }, () => hour));
  for (const day of typicalSpans) {
    await service.put("densities", { tile: `7/${good}`, day, hours, revision: 1 });
    const damaged = { tile: `7/${broken}`, day, hours: Buffer.from("zq-damaged") };
    await service.put("densities", { ...damaged, revision: 1 });
  }
}

/** A job whose message was not sent at once is sent one by a sweep once it is ten seconds old. */
const patiently = { timeout: 150_000, interval: 2_000 };

beforeAll(async () => {
  const queue: BackingServer = keep(await openQueueServer(undefined));
  gate = keep(await openFaultyEndpoint(queue.endpoint));
  sink = keep(await openSink());
  const jwks = keep(await countingServer((_, response) => response.end(JSON.stringify({ keys: [key.jwk] }))));
  const trusted = { audience: "operator", algorithms: ["RS256"], subscriptionClaim: "subscription" };
  service = keep(
    await startOwnService(
      {
        AWS_ENDPOINT_URL_SQS: gate.url,
        SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
        SINK_RETRY_SECONDS: "0",
        TRUSTED_ISSUERS: JSON.stringify([
          { ...trusted, issuer, jwksUri: jwks.url },
          { ...trusted, issuer: deadIssuer, jwksUri: "http://127.0.0.1:1025/zq-path" },
        ]),
        LOG_LEVEL: "DEBUG",
      },
      { hasDemoData: true },
    ),
  );
  await hideDemoData();
  const [good, broken] = [freshTile(), freshTile()];
  await storeEverything(good, broken);
  await storeSampleOperations(service.put, `${issuer} ${sampleClient}`);
  const flows = await everyFlow(good, broken, sinkOf);
  for (const flow of flows) await ask(flow);
  const accepted = answers.filter(({ ends }) => ends === "202");
  // What threads write comes a moment later than what they answer.
  await vi.waitFor(async () => {
    await service.invoke("population-density/sweep", {});
    // One of the operations of `events/` is cancelled.
    expect(total("Deliveries")).toBe(accepted.length + 1);
    expect(total("Requests")).toBe(served().length);
  }, patiently);
});

afterAll(async () => {
  for (const started of opened.reverse()) await started.close();
});

test("every request of the privacy search is answered as expected", () => {
  expect(answers.map(({ flow, ends }) => ({ ...flow, ends }))).toEqual(answers.map(({ flow }) => flow));
});

test.each(endpoints.map(({ id }) => id))("the privacy search includes successes and errors of %s", (id) => {
  const ends = served().flatMap((answer) => (answer.flow.by === id ? [answer.ends] : []));
  expect(ends.filter((end) => end.startsWith("20"))).not.toEqual([]);
  expect(ends.filter((end) => end.startsWith("4"))).not.toEqual([]);
});

test("the privacy search has sent or stored every value that it looks for", () => {
  const all = sent.join("\n").toLowerCase();
  const hashes = [hashed(address.toLowerCase()), hashed(phoneNumber)];
  const idle = [...canaries.keys()].filter(
    (canary) => !hashes.includes(canary) && !all.includes(canary.toLowerCase()),
  );
  expect(idle).toEqual([]);
  expect([...canaries.values()].filter((name) => name === "a part of a token").length).toBeGreaterThan(9);
});

test("the privacy search has delivered to sinks with their token", () => {
  const received = sink.received();
  expect(received.length).toBeGreaterThan(4);
  const [withoutToken] = received.filter(
    ({ headers }) => !/^Bearer (?:zq-)?sink-token$/.test(`${headers.authorization}`),
  );
  expect(withoutToken).toBeUndefined();
});

test("no line of a log or a metric holds a value that was sent or stored", () => {
  const leaks = logged().flatMap((text) => {
    const names = found(text);
    return names.length === 0 ? [] : [{ names, text }];
  });
  expect(leaks).toEqual([]);
});

test("no body and no header of an error holds a value that was sent or stored", () => {
  const failed = answers.filter(({ ends }) => !ends.startsWith("2"));
  expect(failed.flatMap(({ flow, text }) => found(text).map((name) => ({ name, flow })))).toEqual([]);
});

test("a message of a queue names a job and nothing else", () => {
  const calls = gate.calls.map(({ operation, parameters: { QueueUrl, ...parameters } }) => ({
    operation,
    parameters,
  }));
  expect(calls.flatMap((call) => found(JSON.stringify(call)))).toEqual([]);
  const messages = calls.filter(({ operation }) => /^Send/.test(operation));
  expect(messages.length).toBeGreaterThan(5);
  for (const { operation, parameters } of messages) {
    expect(operation).toBe("SendMessage");
    const { MessageBody, DelaySeconds, ...others } = parameters;
    expect(others).toEqual({});
    const body = z.strictObject({ version: z.literal(1), operationId: z.uuid() });
    expect(() => body.parse(JSON.parse(String(MessageBody)))).not.toThrow();
  }
});

test("every line is JSON: an entry of the log, a metric, or the local gateway's AUTHORIZER_FAILURE", () => {
  const ids = new Set<unknown>(Object.values(logEntries).map(({ id }) => id));
  const others = lines().filter((written) => !ids.has(written.id) && written.OldestJobSeconds === undefined);
  expect(others).toMatchObject([{ message: "AUTHORIZER_FAILURE" }]);
  for (const written of lines()) {
    const entry = Object.values(logEntries).find(({ id }) => id === written.id);
    if (entry === undefined) continue;
    expect(written).toMatchObject({ message: entry.message, level: entry.level.toUpperCase() });
  }
});

test("the log has a line for each failure", () => {
  expect(linesOf("CRASH").length).toBeGreaterThan(1);
  expect(linesOf("ISSUER_KEYS_UNREACHABLE").map(({ issuer: named }) => named)).toContain(deadIssuer);
  expect(linesOf("TOKEN_WITHOUT_SUBSCRIPTION")).toMatchObject([{ issuer }]);
  const outcomes = linesOf("ATTEMPT").map(({ outcome, status, cause }) => `${outcome} ${status ?? cause}`);
  for (const expected of [
    "delivered",
    "refused 410",
    "failed 500",
    "failed ECONNREFUSED",
    "failed ECONNRESET",
  ]) {
    expect(outcomes).toContainEqual(expect.stringContaining(expected));
  }
});

test("metrics count failed logins, answered slots, attempts and outcomes of jobs", () => {
  const failedLogins = answers.filter(
    ({ flow, ends }) => flow.by === "profile/authenticate" && /^(?:401|429)/.test(ends),
  );
  expect(total("LoginFailures")).toBe(failedLogins.length);
  const slots = answers.flatMap(({ flow, ends, body }) => {
    if (flow.by !== "population-density/retrieve" || ends !== "200") return [];
    // Each slot has one of these in every format.
    return JSON.stringify(body).match(/\b(?:NO_DATA|LOW_DENSITY|DENSITY_ESTIMATION)\b/g) ?? [];
  });
  expect(slots.length).toBeGreaterThan(2);
  expect(total("DensitySlots")).toBe(slots.length);
  expect(total("Attempts")).toBe(linesOf("ATTEMPT").length);
  const outcomes = ["delivered", "refused", "failed"].map((outcome) => total("Deliveries", { outcome }));
  const accepted = answers.filter(({ ends }) => ends === "202");
  expect(outcomes).toEqual([accepted.length - 7, 1, 6]);
  expect(total("IssuerKeysUnreachable")).toBe(linesOf("ISSUER_KEYS_UNREACHABLE").length);
  expect(total("QuotaNotCounted")).toBe(0);
});
