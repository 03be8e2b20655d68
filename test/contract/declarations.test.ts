import { expect, test } from "vitest";
import { areas, endpoints } from "../../functions/areas.ts";
import { type Endpoint, failures, pathsOf } from "../../shared/endpoint.ts";
import type { Code } from "../../shared/errors.ts";

const declared: readonly Endpoint[] = endpoints;
const identified = declared.map((endpoint) => [endpoint.id, endpoint] as const);

const repeated = (values: readonly string[]) =>
  values.filter((value, index) => values.indexOf(value) !== index);

test.each(identified)(
  "%s declares every code with which a request is refused before its handler runs",
  (_, endpoint) => {
    const codes: readonly Code[] =
      endpoint.scope === null
        ? ["INVALID_ARGUMENT"]
        : ["INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "TOO_MANY_REQUESTS", "QUOTA_EXCEEDED"];
    expect(endpoint.errors).toEqual(expect.arrayContaining([...codes]));
  },
);

test.each(identified)(
  "%s declares each code once, and no failure that every endpoint has",
  (_, { errors }) => {
    expect(repeated(errors)).toEqual([]);
    const ofAll: readonly Code[] = failures;
    expect(errors.filter((code) => ofAll.includes(code))).toEqual([]);
  },
);

test.each(identified)("%s declares paths that need no percent-encoding", (_, endpoint) => {
  for (const path of pathsOf(endpoint)) {
    expect(path).toMatch(/^(?:\/(?:[a-z0-9._-]+|\{[a-zA-Z]+\}))+$/);
  }
});

test("no two endpoints have the same id", () => {
  expect(repeated(declared.map(({ id }) => id))).toEqual([]);
});

test("no two endpoints have the same operationId", () => {
  expect(repeated(declared.map(({ operationId }) => operationId))).toEqual([]);
});

test("no two endpoints share a route, with any names of parameters", () => {
  const routes = declared.flatMap((endpoint) =>
    pathsOf(endpoint).map((path) => `${endpoint.method} ${path.replaceAll(/\{[^}]+\}/g, "{}")}`),
  );
  expect(repeated(routes)).toEqual([]);
});

test("every scope belongs to one area and is used by an endpoint", () => {
  const scopes = areas.flatMap((area) => Object.keys(area.scopes));
  const used = declared.flatMap(({ scope }) => scope ?? []);
  expect(scopes.sort()).toEqual([...new Set(used)].sort());
});
