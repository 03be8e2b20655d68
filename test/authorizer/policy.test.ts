import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { policyFor, type RoutesByScope } from "../../functions/authorizer/policy.ts";
import { routesByScope } from "../../infra/routes-by-scope.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { decide, policySchema } from "../../tools/local/gateway/policy.ts";
import { everyScope } from "../support/scopes.ts";

const stage = "arn:aws:execute-api:eu-west-1:000000000000:abcdefghij/live";

interface Method {
  readonly scope: string;
  readonly arn: string;
}

const declared: readonly Endpoint[] = endpoints;
const methods: readonly Method[] = declared.flatMap(({ scope, method, path, aliases }) =>
  scope === null
    ? []
    : pathsOf({ path, aliases }).map((path) => ({
        scope,
        arn: `${stage}/${method}${path.replaceAll(/\{[^}]+\}/g, "QOS_E%2F%2A")}`,
      })),
);

/** What the authorizer's variable has. */
const wired = routesByScope(endpoints);

function decisionsFor(granted: readonly string[], routes: RoutesByScope, asked: readonly Method[]) {
  const caller = { client: "client-1", scopes: [...granted], expires: 1 };
  const policy = policyFor(caller, asked[0]?.arn ?? "", routes);
  const document = policySchema.parse(policy.policyDocument);
  return asked.map(({ arn }) => decide(document, "execute-api:Invoke", arn));
}

const allowed = (granted: readonly string[], asked: readonly Method[]) =>
  asked.map(({ scope }) => granted.includes(scope));

describe("policyFor", () => {
  test("the authorizer's policy allows exactly the routes of the granted scopes, under each of their paths", () => {
    expect(methods.length).toBeGreaterThan(0);
    fc.assert(
      fc.property(fc.subarray([...everyScope]), (granted) => {
        const decisions = decisionsFor(granted, wired, methods);
        expect(decisions.map((one) => one === "allow")).toEqual(allowed(granted, methods));
      }),
    );
  });

  test("the authorizer's policy allows a route with a trailing slash like the route without it", () => {
    const withSlash = methods.map(({ scope, arn }) => ({ scope, arn: `${arn}/` }));
    for (const granted of everyScope) {
      const decisions = decisionsFor([granted], wired, withSlash);
      expect(decisions.map((one) => one === "allow")).toEqual(allowed([granted], withSlash));
    }
  });

  test("the authorizer's policy denies every route explicitly without a scope that opens one", () => {
    expect(new Set(decisionsFor([], wired, methods))).toEqual(new Set(["explicit deny"]));
    const scope = everyScope[0];
    if (scope === undefined) throw new Error("there are scopes");
    expect(new Set(decisionsFor([scope], {}, methods))).toEqual(new Set(["explicit deny"]));
  });

  test("the authorizer's policy denies every route to unknown scopes, and passes none of them to the functions", () => {
    const scopes = ["everything", "constructor", "__proto__", "QOS-PROFILES:READ"];
    const policy = policyFor({ client: "c", scopes, expires: 1 }, methods[0]?.arn ?? "", wired);

    expect(new Set(decisionsFor(scopes, wired, methods))).toEqual(new Set(["explicit deny"]));
    expect(policy.context).toMatchObject({ scope: "" });
  });

  test("the authorizer's policy allows no other verb, no other stage and no other API", () => {
    const others = methods.flatMap(({ scope, arn }) => [
      { scope, arn: arn.replace(/\/(DELETE|GET|POST)\//, "/PUT/") },
      { scope, arn: arn.replace("/live/", "/other/") },
      { scope, arn: arn.replace("abcdefghij", "jihgfedcba") },
    ]);
    const caller = { client: "client-1", scopes: [...everyScope], expires: 1 };
    const document = policySchema.parse(policyFor(caller, methods[0]?.arn ?? "", wired).policyDocument);

    expect(others.map(({ arn }) => decide(document, "execute-api:Invoke", arn))).toEqual(
      others.map(() => "implicit deny"),
    );
  });

  test("the authorizer's policy is the same for each route of a scope, as API Gateway caches it for all", () => {
    const caller = { client: "client-1", scopes: everyScope.slice(1), expires: 1 };
    for (const scope of everyScope) {
      const own = methods.filter((method) => method.scope === scope);
      const [one, ...others] = own.map(({ arn }) => policyFor(caller, arn, wired));
      for (const other of others) expect(other).toEqual(one);
      expect(one?.context).toMatchObject({
        neededScope: scope,
        challenge: `Bearer error="insufficient_scope", scope="${scope}"`,
      });
    }
  });

  test("the authorizer's policy names the scope of a route with a trailing slash, and none for an unknown route", () => {
    const caller = { client: "client-1", scopes: [], expires: 1 };
    for (const { scope, arn } of methods) {
      expect(policyFor(caller, `${arn}/`, wired).context).toMatchObject({ neededScope: scope });
    }
    for (const route of ["POST/nothing", "GET/numberrecycling/check", "POST/numberrecycling/check/more"]) {
      expect(policyFor(caller, `${stage}/${route}`, wired).context).not.toHaveProperty("neededScope");
    }
  });

  test("the authorizer's policy passes the caller to the functions as strings", () => {
    const caller = { client: "c", scopes: [...everyScope], expires: 1_763_719_200, subscription: "sub-1" };

    const { context, principalId } = policyFor(caller, methods[0]?.arn ?? "", wired);

    expect(principalId).toBe("c");
    expect(context).toMatchObject({
      client: "c",
      scope: everyScope.join(" "),
      expires: "1763719200",
      subscription: "sub-1",
    });
  });
});
