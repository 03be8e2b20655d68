import { expect, test } from "vitest";
import type { Code } from "../../shared/errors.ts";
import { call, tokenWith } from "../support/client.ts";

const scope = "qos-profiles:read number-recycling:check device-identifier:retrieve-identifier";
const specifiedDate = "2023-12-22";

const known = { phoneNumber: "+34600000001" };
const unknown = { phoneNumber: "+34699999999" };
const malformed = { phoneNumber: "0" };
const reserved = { networkAccessIdentifier: "1@example.com" };

/** What operations answer that take any identifier of a device; and what all three answer. */
const ofDevices = (outcome: 200 | Code) => ({ qos: outcome, device: outcome });
const all = (outcome: 200 | Code) => ({ ...ofDevices(outcome), number: outcome });

/** Subscription of the token × identifiers sent → what each operation answers, where no event shows it. */
const table = [
  [undefined, "a known one and a reserved one", { ...known, ...reserved }, ofDevices(200)],
  [
    undefined,
    "an unknown one before a known one",
    { ...unknown, ipv6Address: "2001:db8:1:1::1" },
    ofDevices("IDENTIFIER_NOT_FOUND"),
  ],
  ["s-0001", "a reserved one", reserved, ofDevices("UNNECESSARY_IDENTIFIER")],
  ["s-0001", "an unknown one", unknown, all("UNNECESSARY_IDENTIFIER")],
  ["s-0001", "a malformed one", malformed, all("INVALID_ARGUMENT")],
  ["s-none", "none", undefined, all("IDENTIFIER_NOT_FOUND")],
] as const;

const operations = {
  qos: { path: "/qualityondemand/retrieve-qos-profiles", bodyOf: (device?: object) => ({ device }) },
  number: { path: "/numberrecycling/check", bodyOf: (device?: object) => ({ specifiedDate, ...device }) },
  device: { path: "/deviceidentifier/retrieve-identifier", bodyOf: (device?: object) => ({ device }) },
};

const cases = table.flatMap(([subscription, identifiers, sent, expected]) =>
  Object.entries(expected).map(
    ([operation, outcome]) =>
      [operation as keyof typeof operations, outcome, subscription, identifiers, sent] as const,
  ),
);

test.each(cases)(
  "%s answers %s to a token with the subscription %s and identifiers: %s",
  async (operation, outcome, subscription, _, sent) => {
    const { path, bodyOf } = operations[operation];
    const bearer = await tokenWith({ scope, subscription });

    const { status, body } = await call(path, { body: bodyOf(sent), token: bearer });

    expect(status === 200 ? 200 : body).toEqual(
      outcome === 200 ? 200 : expect.objectContaining({ code: outcome }),
    );
  },
);
