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
  (errorRow(code).gatewayResponses ?? []).map((type) => ({ type, code, ...errorRow(code) })),
);

/** Every refusal that the CDK of this project knows API Gateway to have. */
const known = readNotes().gatewayResponses.sort();

test("each refusal that API Gateway has stands in one row of the catalogue", () => {
  expect(known.length).toBeGreaterThan(20);
  expect(rows.map(({ type }) => type).sort()).toEqual(known);
});

describe("gateway responses", () => {
  const responses = resourcesOf("AWS::ApiGateway::GatewayResponse", responseProperties).map(
    ({ properties }) => properties,
  );

  test("each type of the catalogue has one response, and no other type has", () => {
    expect(responses.map(({ ResponseType: type }) => type).sort()).toEqual(
      rows.map(({ type }) => type).sort(),
    );
  });

  test.each(rows.map((row) => [`${row.type} is ${row.code}`, row] as const))(
    "%s",
    (_name, { type, code, status, message, retryAfterSeconds }) => {
      const response = only(
        responses.filter((made) => made.ResponseType === type),
        type,
      );
      const body = response.ResponseTemplates["application/json"] ?? "";
      const header = (name: string) => response.ResponseParameters[`gatewayresponse.header.${name}`];

      // The status and the body of the row, as JSON whatever the caller accepts.
      expect(response.StatusCode).toBe(String(status));
      expect(Object.keys(response.ResponseTemplates)).toEqual(["application/json"]);
      const noPath = "There is no operation with this path.";
      const own: Readonly<Record<string, string>> = {
        ACCESS_DENIED: "The access token lacks the scope $context.authorizer.neededScope.",
        MISSING_AUTHENTICATION_TOKEN: noPath,
        DEFAULT_4XX: noPath,
        INVALID_SIGNATURE: noPath,
        UNSUPPORTED_MEDIA_TYPE:
          "The Content-Encoding must be gzip or deflate and fit the body, or the path does not take this verb.",
        REQUEST_TOO_LARGE: "The body is too large.",
      };
      expect(JSON.parse(body)).toEqual({ status, code, message: own[type] ?? message });
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

  test("a function that Lambda throttles is 503, and the caller is told when to come back", () => {
    const throttled = responses.filter(({ ResponseType: type }) => type === "INTEGRATION_FAILURE");
    expect(throttled).toMatchObject([
      { StatusCode: "503", ResponseParameters: { "gatewayresponse.header.retry-after": "'5'" } },
    ]);
  });

  test("who shall come back later is told when", () => {
    const later = responses.filter(({ StatusCode }) => StatusCode === "429" || StatusCode === "503");
    expect(later.length).toBeGreaterThan(0);
    const untold = later.filter(
      (made) => made.ResponseParameters["gatewayresponse.header.retry-after"] === undefined,
    );
    expect(untold.map(({ ResponseType: type }) => type)).toEqual([]);
  });
});
