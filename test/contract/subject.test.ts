import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { beforeAll, expect, test, vi } from "vitest";
import { handler as retrieveIdentifier } from "../../functions/device-identifier/retrieve.ts";
import { handler as checkNumber } from "../../functions/number-recycling/check.ts";
import { handler as listProfiles } from "../../functions/qos-profiles/retrieve.ts";
import { configuration } from "../../shared/environment.ts";
import type { Code } from "../../shared/errors.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { authorizerContext, eventOf } from "../support/pipeline.ts";

const scope = "qos-profiles:read number-recycling:check device-identifier:retrieve-identifier";
const specifiedDate = "2023-12-22";

const phone = (phoneNumber: string) => ({ phoneNumber });
const known = phone("+34600000001");
const unknown = phone("+34699999999");
const outside = phone("+34600000004");
const malformed = phone("0");
const reserved = { networkAccessIdentifier: "1@example.com" };

/** What operations answer that take any identifier of a device; and what all three answer. */
const ofDevices = (outcome: 200 | Code) => ({ qos: outcome, device: outcome });
const all = (outcome: 200 | Code) => ({ ...ofDevices(outcome), number: outcome });

/**
 * Token kind × identifiers sent × what is known of them → what each of the three operations that ask for a
 * subject answers. The number check takes a phone number and nothing else.
 */
const table = [
  ["2-legged", "none", undefined, { qos: 200, number: "MISSING_IDENTIFIER", device: "MISSING_IDENTIFIER" }],
  ["2-legged", "a known one", known, all(200)],
  ["2-legged", "an unknown one", unknown, all("IDENTIFIER_NOT_FOUND")],
  ["2-legged", "one outside the service", outside, all("SERVICE_NOT_APPLICABLE")],
  ["2-legged", "a malformed one", malformed, all("INVALID_ARGUMENT")],
  ["2-legged", "a reserved one", reserved, ofDevices("UNSUPPORTED_IDENTIFIER")],
  ["2-legged", "a known one and a reserved one", { ...known, ...reserved }, ofDevices(200)],
  [
    "2-legged",
    "an unknown one before a known one",
    { ...unknown, ipv6Address: "2001:db8:1:1::1" },
    ofDevices("IDENTIFIER_NOT_FOUND"),
  ],
  ["3-legged, known", "none", undefined, all(200)],
  ["3-legged, known", "its own", known, all("UNNECESSARY_IDENTIFIER")],
  ["3-legged, known", "an unknown one", unknown, all("UNNECESSARY_IDENTIFIER")],
  ["3-legged, known", "a reserved one", reserved, ofDevices("UNNECESSARY_IDENTIFIER")],
  ["3-legged, known", "a malformed one", malformed, all("INVALID_ARGUMENT")],
  ["3-legged, gone", "none", undefined, all("IDENTIFIER_NOT_FOUND")],
  ["3-legged, outside", "none", undefined, all("SERVICE_NOT_APPLICABLE")],
] as const;

const subscriptions = {
  "2-legged": undefined,
  "3-legged, known": "s-0001",
  "3-legged, gone": "s-none",
  "3-legged, outside": "s-0004",
};

const operations = {
  qos: { path: "/qualityondemand/retrieve-qos-profiles", bodyOf: (device?: object) => ({ device }) },
  number: { path: "/numberrecycling/check", bodyOf: (device?: object) => ({ specifiedDate, ...device }) },
  device: { path: "/deviceidentifier/retrieve-identifier", bodyOf: (device?: object) => ({ device }) },
};

const cases = table.flatMap(([token, identifiers, sent, expected]) =>
  Object.entries(expected).map(
    ([operation, outcome]) =>
      [operation as keyof typeof operations, outcome, token, identifiers, sent] as const,
  ),
);

test.each(cases)(
  "%s answers %s to a token %s with identifiers: %s",
  async (operation, outcome, token, _, sent) => {
    const { path, bodyOf } = operations[operation];
    const bearer = await tokenWith({ scope, subscription: subscriptions[token] });

    const { status, body } = await call(path, { body: bodyOf(sent), token: bearer });

    expect(status === 200 ? 200 : body).toEqual(
      outcome === 200 ? 200 : expect.objectContaining({ code: outcome }),
    );
  },
);

beforeAll(() => {
  useTables();
  for (const name of ["RATE_LIMIT_PER_MINUTE", "DAILY_QUOTA"] as const) {
    process.env[name] ??= configuration[name].default;
  }
});

/** What a handler asks of the tables, in order of name. */
async function callsFor(handler: typeof checkNumber, body: object): Promise<string[]> {
  const send = vi.spyOn(DynamoDBClient.prototype, "send");
  try {
    const event = eventOf({ body: JSON.stringify(body), authorizer: authorizerContext({ scope }) });
    await handler(event, { getRemainingTimeInMillis: () => 10_000 });
    return send.mock.calls.map(([command]) => `${command.constructor.name}`).sort();
  } finally {
    send.mockRestore();
  }
}

const both = {
  ipv6Address: "2001:db8:1:1::1",
  ipv4Address: { publicAddress: "203.0.113.10", publicPort: 59_765 },
};

test.each([
  ["the list of QoS profiles", listProfiles, { device: known }, { device: unknown }],
  ["the number check", checkNumber, { specifiedDate, ...known }, { specifiedDate, ...unknown }],
  [
    "the device identifier",
    retrieveIdentifier,
    { device: { ...known, ...both } },
    { device: { ...unknown, ...both } },
  ],
])(
  "%s makes the same calls for a known and an unknown identifier",
  async (_, handler, withKnown, withUnknown) => {
    const calls = await callsFor(handler, withKnown);
    expect(await callsFor(handler, withUnknown)).toEqual(calls);
    expect(calls.filter((name) => name === "QueryCommand").length).toBeLessThanOrEqual(1);
    expect(calls.length).toBeGreaterThan(0);
  },
);
