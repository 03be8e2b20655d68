import { expect, test } from "vitest";
import { failures } from "../../shared/endpoint.ts";
import { type Code, errorRow, errors } from "../../shared/errors.ts";

const codes = Object.keys(errors) as Code[];

test("the failures that every endpoint has are the codes with a status of 500 or more", () => {
  expect([...failures].sort()).toEqual(codes.filter((code) => errorRow(code).status >= 500).sort());
});

test.each(codes)("%s has a Retry-After exactly if its status is 429 or 503", (code) => {
  const { status, retryAfterSeconds } = errorRow(code);
  if (status === 429 || status === 503) expect(retryAfterSeconds).toBeGreaterThan(0);
  else expect(retryAfterSeconds).toBeUndefined();
});

test("no type of API Gateway response stands in two rows of the error catalogue", () => {
  const types = codes.flatMap((code) => errorRow(code).gatewayResponses ?? []);
  expect(new Set(types).size).toBe(types.length);
});
