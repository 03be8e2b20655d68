import { expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { authorizer } from "../../infra/gateway.ts";
import { routesByScope } from "../../infra/routes-by-scope.ts";
import { tokenWith } from "../support/client.ts";

/** API Gateway refuses a longer resource in the policy of an authorizer. */
const policyResourceCharacters = 512;

/** As long as region, account and API can be. */
const longestStage = "arn:aws-us-gov:execute-api:ap-southeast-15:123456789012:abcdefghij/live";

const expression = new RegExp(authorizer.expression);

test.each(["Bearer", "bearer", "BEARER", "bEaReR"])(
  "the authorizers pass a token with the scheme %s on",
  async (scheme) => {
    expect(`${scheme} ${await tokenWith()}`).toMatch(expression);
    expect(`${scheme}  ${await tokenWith({ subscription: crypto.randomUUID() })}`).toMatch(expression);
  },
);

test.each([
  ["another scheme", "Basic YXBwOnNlY3JldA=="],
  ["no scheme", "a.b.c"],
  ["no token", "Bearer "],
  ["no space", "Bearera.b.c"],
  ["a token that is no JWT", "Bearer abc"],
  ["two parts", "Bearer a.b"],
  ["five parts, an encrypted token", "Bearer a.b.c.d.e"],
  ["no signature", "Bearer a.b."],
  ["two tokens", "Bearer a.b.c, Bearer a.b.c"],
  ["something behind the token", "Bearer a.b.c x"],
  ["something before the scheme", "x Bearer a.b.c"],
  ["a line break", "Bearer a.b.c\n"],
  ["characters no JWT has", "Bearer a.b.c="],
  ["nothing", ""],
])("the authorizers refuse %s without running a function", (_case, sent) => {
  expect(sent).not.toMatch(expression);
});

test("every route is short enough for a policy of an authorizer", () => {
  const resources = Object.values(routesByScope(endpoints))
    .flat()
    .map((pattern) => `${longestStage}/${pattern}`);
  expect(resources.filter((resource) => resource.length >= policyResourceCharacters)).toEqual([]);
});
