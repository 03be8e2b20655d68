import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Code, errorRow, errors } from "../../shared/errors.ts";
import { only, readNotes, resourcesOf } from "./template.ts";

const responseProperties = z.object({
  ResponseType: z.string(),
  StatusCode: z.string().optional(),
  ResponseParameters: z.record(z.string(), z.string()),
  ResponseTemplates: z.record(z.string(), z.string()),
});

const rows = (Object.keys(errors) as Code[]).flatMap((code) =>
  (errorRow(code).gatewayResponses ?? []).map((type, _, types) => ({
    type,
    // The default of a class of errors stands for every type of its row.
    answeredBy: types.find((one) => one.startsWith("DEFAULT_")) ?? type,
    code,
    ...errorRow(code),
  })),
);

/** Every refusal that the CDK of this project knows API Gateway to have. */
const known = readNotes().gatewayResponses.sort();

test("the error catalogue has every gateway response type once", () => {
  expect(known.length).toBeGreaterThan(20);
  expect(rows.map(({ type }) => type).sort()).toEqual(known);
});

describe("gateway responses", () => {
  const responses = resourcesOf("AWS::ApiGateway::GatewayResponse", responseProperties).map(
    ({ properties }) => properties,
  );

  test("each gateway response type of the catalogue has one response, its own or a default, and no other type has", () => {
    expect(responses.map(({ ResponseType: type }) => type).sort()).toEqual(
      [...new Set(rows.map(({ answeredBy }) => answeredBy))].sort(),
    );
  });

  test.each(rows.map((row) => [`${row.type} is ${row.code}`, row] as const))(
    "the gateway response %s has the status, code and headers of the catalogue",
    (_name, { type, answeredBy, code, status, retryAfterSeconds }) => {
      const response = only(
        responses.filter((made) => made.ResponseType === answeredBy),
        answeredBy,
      );
      const body = response.ResponseTemplates["application/json"] ?? "";
      const header = (name: string) => response.ResponseParameters[`gatewayresponse.header.${name}`];

      // The status and the body of the row, as JSON for any Accept of the caller.
      expect(response.StatusCode).toBe(String(status));
      expect(Object.keys(response.ResponseTemplates)).toEqual(["application/json"]);
      expect(JSON.parse(body)).toEqual({ status, code, message: expect.stringMatching(/./) });
      // `$` and `#` would be the start of something else to substitute.
      expect(body.replace("$context.authorizer.neededScope", "")).not.toMatch(/[$#]/);
      // The headers a function would answer with.
      expect(header("x-correlator")).toBe("method.request.header.x-correlator");
      expect(header("x-request-id")).toBe("context.requestId");
      expect(header("cache-control")).toBe("'no-store'");
      const challenge = type === "ACCESS_DENIED" ? "context.authorizer.challenge" : undefined;
      expect(header("www-authenticate")).toBe(status === 401 ? "'Bearer'" : challenge);
      expect(header("retry-after")).toBe(
        retryAfterSeconds === undefined ? undefined : `'${retryAfterSeconds}'`,
      );
    },
  );
});
