import { expect, test } from "vitest";
import * as z from "zod";
import { errorRow } from "../../shared/errors.ts";
import { configured, only, resourcesOf } from "./template.ts";

const rule = z.object({
  Name: z.string(),
  Priority: z.number(),
  Action: z.unknown().optional(),
  Statement: z.object({
    RateBasedStatement: z
      .object({
        EvaluationWindowSec: z.number(),
        Limit: z.number(),
      })
      .optional(),
  }),
});

const aclProperties = z.object({
  CustomResponseBodies: z.record(z.string(), z.object({ ContentType: z.string(), Content: z.string() })),
  Rules: z.array(rule),
});

const { Rules, ...properties } = only(
  resourcesOf("AWS::WAFv2::WebACL", aclProperties, configured),
  "firewalls",
).properties;

test.each([
  // The rate of one caller is 600 a minute in this template.
  ["five callers from one address", "RequestsFromOneAddress", 5 * 600],
  ["two callers with one token", "RequestsWithOneToken", 2 * 600],
])(
  "the firewall answers more than the rate of %s with the catalogue's 429 and Retry-After",
  (_, name, perMinute) => {
    const rate = only(
      Rules.filter(({ Name }) => Name === name),
      name,
    );
    expect(rate.Priority).toBeLessThan(2);
    const { EvaluationWindowSec = 1, Limit = 0 } = rate.Statement.RateBasedStatement ?? {};
    expect((Limit / EvaluationWindowSec) * 60).toBe(perMinute);
    const { status, message } = errorRow("TOO_MANY_REQUESTS");
    expect(rate.Action).toEqual({
      Block: {
        CustomResponse: {
          ResponseCode: status,
          CustomResponseBodyKey: "TOO_MANY_REQUESTS",
          ResponseHeaders: [
            { Name: "cache-control", Value: "no-store" },
            { Name: "retry-after", Value: expect.stringMatching(/^\d+$/) },
          ],
        },
      },
    });
    const { ContentType, Content = "" } = properties.CustomResponseBodies.TOO_MANY_REQUESTS ?? {};
    expect(ContentType).toBe("APPLICATION_JSON");
    expect(JSON.parse(Content)).toEqual({ status, code: "TOO_MANY_REQUESTS", message });
  },
);
