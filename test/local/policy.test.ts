import { expect, test } from "vitest";
import { decide, policySchema } from "../../tools/local/gateway/policy.ts";

const api = "arn:aws:execute-api:eu-west-1:000000000000:abc/prod";
const arn = `${api}/GET/things/1`;
const Action = "execute-api:Invoke";
const decided = (...Statement: unknown[]) => decide(policySchema.parse({ Statement }), Action, arn);

test.each([
  ["*", "allow"],
  [arn, "allow"],
  [`${api}/GET/*/?`, "allow"],
  [`${api}/*/things/*`, "allow"],
  ["arn:*:*/prod/GET/*1", "allow"],
  [`${api}/GET/things/1?`, "implicit deny"],
  [`${api}/GET/things/`, "implicit deny"],
  [`${api}/POST/*`, "implicit deny"],
  [`${api}/get/things/1`, "implicit deny"],
  ["", "implicit deny"],
])("the gateway decides by a policy that allows %s: %s", (Resource, decision) => {
  expect(decided({ Effect: "Allow", Action, Resource })).toBe(decision);
});

test("the gateway decides by statements of which any denies, in any order: explicit deny", () => {
  const [allow, deny] = ["Allow", "Deny"].map((Effect) => ({ Effect, Action, Resource: [`${api}/x`, arn] }));
  expect([decided(deny, allow), decided(allow, deny)]).toEqual(["explicit deny", "explicit deny"]);
});

test.each([
  { Effect: "Allow", Action: "*", Resource: "*", Condition: { IpAddress: {} } },
  { Effect: "Allow", Action: "*", NotResource: "x" },
  { Effect: "allow", Action: "*", Resource: "*" },
  { Effect: "Allow", Action: "*" },
])("the gateway refuses a statement that it cannot decide by: %j", (malformed) => {
  expect(policySchema.safeParse({ Statement: [malformed] }).success).toBe(false);
});
