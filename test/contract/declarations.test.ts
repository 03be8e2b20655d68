import { describe, expect, test } from "vitest";
import { type EndpointId, endpoints } from "../../functions/areas.ts";
import { type Endpoint, failures, pathsOf } from "../../shared/endpoint.ts";
import { type Code, errors } from "../../shared/errors.ts";

interface Specified {
  readonly method: string;
  readonly path: string;
  readonly aliases: readonly string[];
  readonly scope: Endpoint["scope"];
  readonly statuses: readonly number[];
  readonly parameters: readonly string[];
  readonly hasBody: boolean;
  readonly errors: readonly Code[];
}

/** What was agreed for each operation, written down a second time. An endpoint without a row does not compile. */
const specified: Readonly<Record<EndpointId, Specified>> = {
  // Specification 4.1, behaviour sections 1 and 5.
  "profile/authenticate": {
    method: "POST",
    path: "/v3/profile/authenticate",
    aliases: ["/profile/authenticate"],
    scope: null,
    statuses: [200],
    parameters: [],
    hasBody: true,
    errors: ["INVALID_ARGUMENT", "UNAUTHENTICATED", "TOO_MANY_REQUESTS"],
  },
  // Specification 4.2, behaviour sections 1 and 4.
  "qos-profiles/retrieve": {
    method: "POST",
    path: "/qualityondemand/retrieve-qos-profiles",
    aliases: ["/qos-profiles/v1/retrieve-qos-profiles"],
    scope: "qos-profiles:read",
    statuses: [200],
    parameters: [],
    hasBody: true,
    errors: [
      "INVALID_ARGUMENT",
      "OUT_OF_RANGE",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "NOT_FOUND",
      "IDENTIFIER_NOT_FOUND",
      "SERVICE_NOT_APPLICABLE",
      "UNSUPPORTED_IDENTIFIER",
      "UNNECESSARY_IDENTIFIER",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
    ],
  },
  // Specification 4.3, behaviour sections 1 and 4.
  "qos-profiles/get-by-name": {
    method: "GET",
    path: "/qualityondemand/qos-profiles/{name}",
    aliases: ["/qos-profiles/v1/qos-profiles/{name}"],
    scope: "qos-profiles:read",
    statuses: [200],
    parameters: ["name"],
    hasBody: false,
    errors: [
      "INVALID_ARGUMENT",
      "OUT_OF_RANGE",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "NOT_FOUND",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
    ],
  },
  // Specification 4.4 and 7.3, behaviour sections 1 and 4.
  "population-density/retrieve": {
    method: "POST",
    path: "/populationdensitydata/retrieve",
    aliases: ["/population-density-data/v0.3/retrieve"],
    scope: "population-density-data:read",
    statuses: [200, 202],
    parameters: [],
    hasBody: true,
    errors: [
      "INVALID_ARGUMENT",
      "INVALID_CREDENTIAL",
      "INVALID_TOKEN",
      "INVALID_SINK",
      "POPULATION_DENSITY_DATA.INVALID_AREA",
      "POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED",
      "POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED",
      "POPULATION_DENSITY_DATA.INVALID_END_TIME",
      "POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED",
      "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "NOT_FOUND",
      // Ours: behaviour section 11.
      "NOT_ACCEPTABLE",
      "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
      "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION",
      "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
    ],
  },
  // Behaviour section 10.
  "population-density/list-operations": {
    method: "GET",
    path: "/populationdensitydata/operations",
    aliases: ["/population-density-data/v0.3/operations"],
    scope: "population-density-data:read",
    statuses: [200],
    parameters: [],
    hasBody: false,
    errors: [
      "INVALID_ARGUMENT",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
    ],
  },
  // Behaviour section 10.
  "population-density/read-operation": {
    method: "GET",
    path: "/populationdensitydata/operations/{operationId}",
    aliases: ["/population-density-data/v0.3/operations/{operationId}"],
    scope: "population-density-data:read",
    statuses: [200],
    parameters: ["operationId"],
    hasBody: false,
    errors: [
      "INVALID_ARGUMENT",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
      "NOT_FOUND",
    ],
  },
  // Behaviour section 10.
  "population-density/cancel-operation": {
    method: "DELETE",
    path: "/populationdensitydata/operations/{operationId}",
    aliases: ["/population-density-data/v0.3/operations/{operationId}"],
    scope: "population-density-data:read",
    statuses: [200],
    parameters: ["operationId"],
    hasBody: false,
    errors: [
      "INVALID_ARGUMENT",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
      "NOT_FOUND",
      "POPULATION_DENSITY_DATA.OPERATION_ENDED",
    ],
  },
  // Behaviour section 10.
  "population-density/redeliver-operation": {
    method: "POST",
    path: "/populationdensitydata/operations/{operationId}/redeliver",
    aliases: ["/population-density-data/v0.3/operations/{operationId}/redeliver"],
    scope: "population-density-data:read",
    statuses: [202],
    parameters: ["operationId"],
    hasBody: true,
    errors: [
      "INVALID_ARGUMENT",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
      "INVALID_CREDENTIAL",
      "INVALID_TOKEN",
      "INVALID_SINK",
      "NOT_FOUND",
      "POPULATION_DENSITY_DATA.OPERATION_PENDING",
    ],
  },
  // Behaviour section 7.
  "population-density/capabilities": {
    method: "GET",
    path: "/populationdensitydata/capabilities",
    aliases: ["/population-density-data/v0.3/capabilities"],
    scope: "population-density-data:read",
    statuses: [200],
    parameters: [],
    hasBody: false,
    errors: [
      "INVALID_ARGUMENT",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "TOO_MANY_REQUESTS",
      "QUOTA_EXCEEDED",
    ],
  },
  // Specification 4.5 and 8, behaviour sections 1 and 4.
  "number-recycling/check": {
    method: "POST",
    path: "/numberrecycling/check",
    aliases: ["/number-recycling/v0.2/check"],
    scope: "number-recycling:check",
    statuses: [200],
    parameters: [],
    hasBody: true,
    errors: [
      "INVALID_ARGUMENT",
      "OUT_OF_RANGE",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "IDENTIFIER_NOT_FOUND",
      "SERVICE_NOT_APPLICABLE",
      "UNNECESSARY_IDENTIFIER",
      "MISSING_IDENTIFIER",
      "QUOTA_EXCEEDED",
      "TOO_MANY_REQUESTS",
    ],
  },
  // Specification 4.6 and 7.4, behaviour sections 1 and 4.
  "device-identifier/retrieve": {
    method: "POST",
    path: "/deviceidentifier/retrieve-identifier",
    aliases: ["/device-identifier/v0.3/retrieve-identifier"],
    scope: "device-identifier:retrieve-identifier",
    statuses: [200],
    parameters: [],
    hasBody: true,
    errors: [
      "INVALID_ARGUMENT",
      "OUT_OF_RANGE",
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "IDENTIFIER_NOT_FOUND",
      "SERVICE_NOT_APPLICABLE",
      "UNSUPPORTED_IDENTIFIER",
      "UNNECESSARY_IDENTIFIER",
      "MISSING_IDENTIFIER",
      "TOO_MANY_REQUESTS",
      "QUOTA_EXCEEDED",
    ],
  },
  // behaviour section 4; the one code is for a correlator that is not valid.
  "keys/publish": {
    method: "GET",
    path: "/.well-known/jwks.json",
    aliases: [],
    scope: null,
    statuses: [200],
    parameters: [],
    hasBody: false,
    errors: ["INVALID_ARGUMENT"],
  },
  // behaviour section 1; the one code is for a correlator that is not valid.
  "openapi/publish": {
    method: "GET",
    path: "/openapi.json",
    aliases: [],
    scope: null,
    statuses: [200],
    parameters: [],
    hasBody: false,
    errors: ["INVALID_ARGUMENT"],
  },
  // behaviour section 1; the one code is for a correlator that is not valid.
  "openapi/catalog": {
    method: "GET",
    path: "/.well-known/api-catalog",
    aliases: [],
    scope: null,
    statuses: [200],
    parameters: [],
    hasBody: false,
    errors: ["INVALID_ARGUMENT"],
  },
};

const declared: readonly Endpoint[] = endpoints;

describe.each(endpoints.map((endpoint) => [endpoint.id, endpoint] as const))("%s", (id, declaration) => {
  const endpoint: Endpoint = declaration;

  test("is declared as the specification says", () => {
    const { method, path, aliases, scope, responses, parameters = {}, body } = endpoint;
    expect(specified[id]).toMatchObject({
      method,
      path,
      aliases,
      scope,
      statuses: Object.keys(responses).map(Number),
      parameters: Object.keys(parameters),
      hasBody: body !== undefined,
    });
  });

  test("can refuse with the codes of the specification's list, and with no other", () => {
    expect([...endpoint.errors].sort()).toEqual([...specified[id].errors].sort());
  });

  test("declares each code once, and none of the failures that every function has", () => {
    expect(new Set(endpoint.errors).size).toBe(endpoint.errors.length);
    const own: readonly Code[] = failures;
    expect(endpoint.errors.filter((code) => own.includes(code))).toEqual([]);
  });

  test("declares what the pipeline itself can refuse with", () => {
    const always: Code[] = ["INVALID_ARGUMENT"];
    const withToken: Code[] = ["UNAUTHENTICATED", "PERMISSION_DENIED", "TOO_MANY_REQUESTS", "QUOTA_EXCEEDED"];
    const possible = endpoint.scope === null ? always : [...always, ...withToken];
    expect(endpoint.errors).toEqual(expect.arrayContaining(possible));
  });

  test("has the same parameters in every path", () => {
    for (const path of pathsOf(endpoint)) {
      expect([...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)).toEqual(specified[id].parameters);
    }
  });

  test("has paths that API Gateway, a browser and a shell read alike", () => {
    for (const path of pathsOf(endpoint)) {
      expect(path).toMatch(/^(?:\/(?:[a-z0-9._-]+|\{[a-zA-Z]+\}))+$/);
    }
  });

  test("describes itself in sentences", () => {
    expect(endpoint.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(endpoint.description).toMatch(/^[A-Z].*\.$/s);
  });
});

describe("all endpoints", () => {
  test("are as many as were specified", () => {
    expect(declared.map(({ id }) => id).sort()).toEqual(Object.keys(specified).sort());
  });

  test("differ in id and operationId", () => {
    expect(new Set(declared.map(({ id }) => id)).size).toBe(declared.length);
    expect(new Set(declared.map(({ operationId }) => operationId)).size).toBe(declared.length);
  });

  test("share no route, whatever their parameters are called", () => {
    const routes = declared.flatMap((endpoint) =>
      pathsOf(endpoint).map((path) => `${endpoint.method} ${path.replaceAll(/\{[^}]+\}/g, "{}")}`),
    );
    expect(new Set(routes).size).toBe(routes.length);
  });

  test("refuse with codes of the catalogue", () => {
    const unknown = declared.flatMap((endpoint) =>
      endpoint.errors.filter((code) => !Object.hasOwn(errors, code)),
    );
    expect(unknown).toEqual([]);
  });
});
