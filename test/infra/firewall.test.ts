import { expect, test } from "vitest";
import * as z from "zod";
import { errorRow } from "../../shared/errors.ts";
import { configured, only, resourcesOf } from "./template.ts";

const override = z.strictObject({
  Name: z.string(),
  ActionToUse: z.strictObject({ Count: z.strictObject({}) }),
});

const rule = z.object({
  Name: z.string(),
  Priority: z.number(),
  Action: z.unknown().optional(),
  OverrideAction: z.unknown().optional(),
  Statement: z.object({
    ManagedRuleGroupStatement: z.object({ RuleActionOverrides: z.array(override).default([]) }).optional(),
    RateBasedStatement: z
      .object({
        EvaluationWindowSec: z.number(),
        Limit: z.number(),
        CustomKeys: z.array(z.object({ Header: z.unknown() })).optional(),
      })
      .optional(),
  }),
});

const aclProperties = z.object({
  DataProtectionConfig: z.object({ DataProtections: z.array(z.unknown()) }),
  CustomResponseBodies: z.record(z.string(), z.object({ ContentType: z.string(), Content: z.string() })),
  Rules: z.array(rule),
});

/** The rules of the groups used that look at bodies, as AWS documents them. */
const bodyRules = [
  "CrossSiteScripting_BODY",
  "EC2MetaDataSSRF_BODY",
  "GenericLFI_BODY",
  "GenericRFI_BODY",
  "JavaDeserializationRCE_BODY",
  "Log4JRCE_BODY",
  "ReactJSRCE_BODY",
  "SizeRestrictions_BODY",
];

const { Rules, ...properties } = only(
  resourcesOf("AWS::WAFv2::WebACL", aclProperties, configured),
  "firewalls",
).properties;

test("the firewall samples and logs requests without a header, a cookie, a query or a body", () => {
  expect(properties.DataProtectionConfig.DataProtections).toEqual(
    ["SINGLE_HEADER", "SINGLE_COOKIE", "QUERY_STRING", "BODY"].map((FieldType) => ({
      Action: "SUBSTITUTION",
      // Without keys, all of them.
      Field: { FieldType },
    })),
  );
});

test("the firewall only counts matches of rules that look at bodies, and blocks by AWS's others, as PERMISSION_DENIED", () => {
  const groups = Rules.filter(({ Statement }) => Statement.ManagedRuleGroupStatement !== undefined);
  const counting = groups.flatMap(({ Statement }) =>
    Statement.ManagedRuleGroupStatement?.RuleActionOverrides.map(({ Name }) => Name),
  );
  expect(counting.filter((name) => name?.endsWith("_BODY")).sort()).toEqual(bodyRules);
  expect(groups.map(({ OverrideAction }) => OverrideAction)).toEqual(groups.map(() => ({ None: {} })));
  expect(errorRow("PERMISSION_DENIED").gatewayResponses).toContain("WAF_FILTERED");
});

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

test("the firewall counts requests with one token together, in any case of the scheme and with any spaces after it", () => {
  const keys = Rules.flatMap(({ Statement }) => Statement.RateBasedStatement?.CustomKeys ?? []);
  expect(keys).toEqual([
    {
      Header: {
        Name: "authorization",
        TextTransformations: [
          { Priority: 0, Type: "LOWERCASE" },
          { Priority: 1, Type: "COMPRESS_WHITE_SPACE" },
        ],
      },
    },
  ]);
});
