import { describe, expect, test } from "vitest";
import { failures } from "../../shared/endpoint.ts";
import { type Code, errorRow, errors } from "../../shared/errors.ts";

/** Specification 7.1: the codes common to all areas, with their status. */
const common = {
  INVALID_ARGUMENT: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  IDENTIFIER_NOT_FOUND: 404,
  SERVICE_NOT_APPLICABLE: 422,
  UNSUPPORTED_IDENTIFIER: 422,
  UNNECESSARY_IDENTIFIER: 422,
  MISSING_IDENTIFIER: 422,
  QUOTA_EXCEEDED: 429,
  TOO_MANY_REQUESTS: 429,
} as const satisfies Partial<Record<Code, number>>;

/** Specification 7.3: the codes of population density. */
const density = {
  INVALID_CREDENTIAL: 400,
  INVALID_TOKEN: 400,
  INVALID_SINK: 400,
  "POPULATION_DENSITY_DATA.INVALID_AREA": 400,
  "POPULATION_DENSITY_DATA.MAX_STARTTIME_EXCEEDED": 400,
  "POPULATION_DENSITY_DATA.MIN_STARTTIME_EXCEEDED": 400,
  "POPULATION_DENSITY_DATA.INVALID_END_TIME": 400,
  "POPULATION_DENSITY_DATA.MAX_TIME_PERIOD_EXCEEDED": 400,
  "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD": 400,
  "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST": 422,
  "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION": 422,
  "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE": 422,
} as const satisfies Partial<Record<Code, number>>;

/** behaviour section 10: operations. */
const operations = {
  "POPULATION_DENSITY_DATA.OPERATION_PENDING": 409,
  "POPULATION_DENSITY_DATA.OPERATION_ENDED": 409,
} as const satisfies Partial<Record<Code, number>>;

/** behaviour section 1: a crash, a dependency that does not answer, our own deadline. */
const ours = { INTERNAL: 500, UNAVAILABLE: 503, TIMEOUT: 504 } as const satisfies Record<
  (typeof failures)[number],
  number
>;

/** behaviour section 1: what a path answers to a verb that it does not have. */
const ofPaths = { METHOD_NOT_ALLOWED: 405 } as const satisfies Partial<Record<Code, number>>;

const codes = Object.keys(errors) as Code[];

describe("the error catalogue", () => {
  test("has the codes of the specification, of operations, formats, paths and failures, and no other", () => {
    expect(Object.fromEntries(codes.map((code) => [code, errorRow(code).status]))).toEqual({
      ...common,
      ...density,
      ...operations,
      ...ofPaths,
      // Behaviour section 11.
      NOT_ACCEPTABLE: 406,
      ...ours,
    });
  });

  test("calls exactly the failures of the service failures", () => {
    expect([...failures].sort()).toEqual(codes.filter((code) => errorRow(code).status >= 500).sort());
  });

  test.each(codes)("%s has a message for a person", (code) => {
    expect(errorRow(code).message).toMatch(/^[A-Z][^\n]{8,118}\.$/);
  });

  test("no two messages are the same", () => {
    const messages = codes.map((code) => errorRow(code).message);
    expect(new Set(messages).size).toBe(messages.length);
  });

  test.each(codes)("%s names nothing of the inside", (code) => {
    expect(errorRow(code).message).not.toMatch(
      /\b(?:aws|lambda|dynamo\w*|gateway|table|queue|secret|database|node|zod|json web|jwt|scope|exception|stack|bug)\b/i,
    );
  });

  test("every code that means later says when", () => {
    const later = codes.filter((code) => [429, 503].includes(errorRow(code).status));
    expect(later.filter((code) => !((errorRow(code).retryAfterSeconds ?? 0) > 0))).toEqual([]);
    const untimely = codes.filter(
      (code) => !later.includes(code) && errorRow(code).retryAfterSeconds !== undefined,
    );
    expect(untimely).toEqual([]);
  });

  test("no refusal of API Gateway means two codes", () => {
    const types = codes.flatMap((code) => errorRow(code).gatewayResponses ?? []);
    expect(new Set(types).size).toBe(types.length);
  });
});
