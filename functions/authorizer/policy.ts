import type { APIGatewayAuthorizerResult } from "aws-lambda";
import { type Caller, contextOf } from "../../shared/caller.ts";

/** Routes as `METHOD/path`, with `*` for a parameter. */
export type RoutesByScope = Readonly<Record<string, readonly string[]>>;

/**
 * The policy for a caller: every route its scopes open, not only the one asked for, because API Gateway keeps
 * the answer for the token on every route. A path with a slash at its end is the same route to API Gateway, but
 * another resource to a policy. Scopes that open no route are left out, also of the context for the functions.
 *
 * @param methodArn `arn:aws:execute-api:region:account:api/stage/METHOD/path` of the request.
 */
export function policyFor(
  caller: Caller,
  methodArn: string,
  routes: RoutesByScope,
): APIGatewayAuthorizerResult {
  const [api, stage, ...route] = methodArn.split("/");
  const needed = scopeOf(route, routes);
  const scopes = caller.scopes.filter((scope) => Object.hasOwn(routes, scope));
  const open = scopes
    .flatMap((scope) => routes[scope] ?? [])
    .flatMap((route) => (route.endsWith("*") ? [route] : [route, `${route}/`]))
    .map((route) => `${api}/${stage}/${route}`);
  return {
    principalId: caller.client,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [
        open.length > 0
          ? { Action: "execute-api:Invoke", Effect: "Allow", Resource: open }
          : { Action: "execute-api:Invoke", Effect: "Deny", Resource: `${api}/${stage}/*` },
      ],
    },
    context: { ...contextOf({ ...caller, scopes }), ...(needed === undefined ? {} : refusalContext(needed)) },
  };
}

/** The scope that opens a route; each is opened by one. A `*` at the end of a pattern stands for all that is left. */
function scopeOf(route: readonly string[], routes: RoutesByScope): string | undefined {
  const parts = route.at(-1) === "" ? route.slice(0, -1) : route;
  const covers = (pattern: readonly string[]) =>
    (pattern.at(-1) === "*" ? parts.length >= pattern.length : parts.length === pattern.length) &&
    pattern.every((part, index) => part === "*" || part === parts[index]);
  return Object.keys(routes).find((scope) => routes[scope]?.some((pattern) => covers(pattern.split("/"))));
}

/**
 * What API Gateway tells a caller without the scope: its name, and the challenge of RFC 6750, section 3. They are of
 * the route asked for and cached with the policy, so an authorizer serves the routes of one scope only.
 */
function refusalContext(scope: string): Record<string, string> {
  return { neededScope: scope, challenge: `Bearer error="insufficient_scope", scope="${scope}"` };
}
