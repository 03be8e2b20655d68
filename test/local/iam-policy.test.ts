import { expect, test } from "vitest";
import { decide, policySchema } from "../../tools/local/template/iam-policy.ts";

const arn = "arn:aws:execute-api:eu-west-1:000000000000:abc/prod/GET/things/1";
const api = "arn:aws:execute-api:eu-west-1:000000000000:abc/prod";
const statement = (
  Effect: string,
  Resource: string | string[],
  Action: string | string[] = "execute-api:Invoke",
) => ({
  Effect,
  Action,
  Resource,
});
const decided = (...Statement: unknown[]) =>
  decide(policySchema.parse({ Version: "2012-10-17", Statement }), "execute-api:Invoke", arn);

test.each([
  ["*", "allow"],
  [arn, "allow"],
  [`${api}/*`, "allow"],
  [`${api}/GET/*/?`, "allow"],
  [`${api}/*/things/*`, "allow"],
  ["arn:*:*/prod/GET/*1", "allow"],
  [`${api}/GET/things/1?`, "implicit deny"],
  [`${api}/GET/things/`, "implicit deny"],
  [`${api}/POST/*`, "implicit deny"],
  [`${api}/get/things/1`, "implicit deny"],
  ["", "implicit deny"],
])("the local gateway returns for a policy that allows %s: %s", (resource, decision) => {
  expect(decided(statement("Allow", resource))).toBe(decision);
});

test("the local gateway returns an explicit deny when any statement denies, in any order", () => {
  expect(decided(statement("Deny", arn), statement("Allow", "*"))).toBe("explicit deny");
  expect(decided(statement("Allow", "*"), statement("Deny", [`${api}/x`, arn]))).toBe("explicit deny");
});

test.each([
  [{ ...statement("Allow", "*"), Condition: { IpAddress: {} } }],
  [{ Effect: "Allow", Action: "*", NotResource: "x" }],
  [{ Effect: "allow", Action: "*", Resource: "*" }],
  [{ Effect: "Allow", Action: "*" }],
])("the local gateway refuses a statement with an element that is not evaluated: %j", (malformed) => {
  expect(policySchema.safeParse({ Statement: [malformed] }).success).toBe(false);
});
