import { expect, test } from "vitest";
import * as z from "zod";
import { managedRules } from "../../infra/constructs/managed-rules.ts";
import { errorRow } from "../../shared/errors.ts";
import { configured, deployed, only, resourcesOf, textOf } from "./template.ts";

const rule = z.object({
  Name: z.string(),
  Priority: z.number(),
  Action: z.unknown().optional(),
  OverrideAction: z.unknown().optional(),
  Statement: z.object({
    ManagedRuleGroupStatement: z
      .object({
        VendorName: z.literal("AWS"),
        Name: z.string(),
        RuleActionOverrides: z
          .array(
            z.strictObject({ Name: z.string(), ActionToUse: z.strictObject({ Count: z.strictObject({}) }) }),
          )
          .default([]),
      })
      .optional(),
    RateBasedStatement: z
      .object({
        AggregateKeyType: z.string(),
        CustomKeys: z.unknown().optional(),
        EvaluationWindowSec: z.number(),
        Limit: z.number(),
      })
      .optional(),
  }),
  VisibilityConfig: z.object({ SampledRequestsEnabled: z.boolean() }),
});

const aclProperties = z.object({
  DataProtectionConfig: z.object({ DataProtections: z.array(z.unknown()) }),
  CustomResponseBodies: z.record(z.string(), z.object({ ContentType: z.string(), Content: z.string() })),
  DefaultAction: z.unknown(),
  Rules: z.array(rule),
  Scope: z.string(),
  VisibilityConfig: z.object({ SampledRequestsEnabled: z.boolean() }),
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

const acl = only(resourcesOf("AWS::WAFv2::WebACL", aclProperties, configured), "firewalls");
const { Rules, ...properties } = acl.properties;
const groups = Rules.flatMap(({ Statement }) => Statement.ManagedRuleGroupStatement ?? []);

test("the firewall is absent unless waf is set", () => {
  const kinds = Object.values(deployed.Resources).map(({ Type }) => Type);
  expect(kinds.filter((kind) => kind.startsWith("AWS::WAF"))).toEqual([]);
});

test("the firewall is associated with the API's stage and allows what no rule blocks", () => {
  const association = only(
    resourcesOf(
      "AWS::WAFv2::WebACLAssociation",
      z.object({ ResourceArn: z.unknown(), WebACLArn: z.unknown() }),
      configured,
    ),
    "associations",
  ).properties;
  const api = only(resourcesOf("AWS::ApiGateway::RestApi", z.unknown(), configured), "APIs").logicalId;
  const stage = only(resourcesOf("AWS::ApiGateway::Stage", z.unknown(), configured), "stages").logicalId;
  expect(textOf(association.ResourceArn)).toMatch(/^arn:.*:apigateway:/);
  expect(textOf(association.ResourceArn).endsWith(`::/restapis/\${${api}}/stages/\${${stage}}`)).toBe(true);
  expect(association.WebACLArn).toEqual({ "Fn::GetAtt": [acl.logicalId, "Arn"] });
  expect(properties).toMatchObject({ Scope: "REGIONAL", DefaultAction: { Allow: {} } });
});

test("the firewall samples requests and logs blocked ones without a header, a cookie, a query or a body", () => {
  const { DataProtections } = properties.DataProtectionConfig;
  expect(DataProtections).toEqual(
    ["SINGLE_HEADER", "SINGLE_COOKIE", "QUERY_STRING", "BODY"].map((FieldType) => ({
      Action: "SUBSTITUTION",
      // Without keys, all of them.
      Field: { FieldType },
    })),
  );
  expect(Rules.filter(({ VisibilityConfig }) => !VisibilityConfig.SampledRequestsEnabled)).toEqual([]);
  expect(properties.VisibilityConfig.SampledRequestsEnabled).toBe(true);
});

test("the firewall's log has a name that WAF accepts, expires, and holds blocked requests only", () => {
  const logging = only(
    resourcesOf(
      "AWS::WAFv2::LoggingConfiguration",
      z.object({
        LogDestinationConfigs: z.tuple([z.unknown()]),
        LoggingFilter: z.unknown(),
        ResourceArn: z.unknown(),
      }),
      configured,
    ),
    "logging configurations",
  ).properties;
  const log = only(
    resourcesOf(
      "AWS::Logs::LogGroup",
      z.object({ LogGroupName: z.unknown().optional(), RetentionInDays: z.number() }),
      configured,
    ).filter(({ logicalId }) => logicalId.startsWith("FirewallLog")),
    "logs",
  );
  expect(JSON.stringify(log.properties.LogGroupName)).toContain("aws-waf-logs-NetworkCapabilities-");
  expect(log.properties.RetentionInDays).toBe(90);
  expect(textOf(logging.LogDestinationConfigs[0])).toMatch(
    new RegExp(`^arn:.*:logs:.*:log-group:\\$\\{${log.logicalId}\\}$`),
  );
  expect(logging.ResourceArn).toEqual({ "Fn::GetAtt": [acl.logicalId, "Arn"] });
  expect(logging.LoggingFilter).toEqual({
    DefaultBehavior: "DROP",
    Filters: [
      {
        Behavior: "KEEP",
        Requirement: "MEETS_ANY",
        Conditions: [{ ActionCondition: { Action: "BLOCK" } }],
      },
    ],
  });
});

test("the firewall uses the groups of managedRules and counts by exactly the rules listed there", () => {
  const counting = groups.map(({ Name, RuleActionOverrides }) => [
    Name,
    RuleActionOverrides.map((override) => override.Name),
  ]);
  expect(counting).toEqual(
    Object.entries(managedRules).map(([name, reasons]) => [name, Object.keys(reasons)]),
  );
});

test("the firewall only counts matches of rules that look at bodies", () => {
  const counting = groups.flatMap(({ RuleActionOverrides }) => RuleActionOverrides.map(({ Name }) => Name));
  expect(counting.filter((name) => name.endsWith("_BODY")).sort()).toEqual(bodyRules);
});

test("the firewall blocks by all other rules of AWS's groups, as PERMISSION_DENIED of the catalogue", () => {
  const overridden = Rules.filter(({ Statement }) => Statement.ManagedRuleGroupStatement).map(
    ({ OverrideAction }) => OverrideAction,
  );
  expect(overridden).toEqual(groups.map(() => ({ None: {} })));
  expect(errorRow("PERMISSION_DENIED").gatewayResponses).toContain("WAF_FILTERED");
});

test.each([
  // Five callers with their whole rate, which the settings of this template make 600 a minute.
  ["from one address", "RequestsFromOneAddress", 5 * 600, "IP", undefined],
  [
    "with one token",
    "RequestsWithOneToken",
    2 * 600,
    "CUSTOM_KEYS",
    // The header is one of those that the firewall hides, also where it says by what it counted.
    [{ Header: { Name: "authorization", TextTransformations: [{ Priority: 0, Type: "NONE" }] } }],
  ],
])(
  "the firewall answers too many requests %s with the catalogue's 429 and Retry-After",
  (_, name, perMinute, key, keys) => {
    const rate = only(
      Rules.filter(({ Name }) => Name === name),
      name,
    );
    expect(rate.Priority).toBeLessThan(2);
    const { AggregateKeyType, CustomKeys, EvaluationWindowSec, Limit } =
      rate.Statement.RateBasedStatement ?? {};
    expect({ AggregateKeyType, CustomKeys }).toEqual({ AggregateKeyType: key, CustomKeys: keys });
    expect(((Limit ?? 0) / (EvaluationWindowSec ?? 1)) * 60).toBe(perMinute);
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
    const body = properties.CustomResponseBodies.TOO_MANY_REQUESTS;
    expect(body?.ContentType).toBe("APPLICATION_JSON");
    expect(JSON.parse(body?.Content ?? "")).toEqual({ status, code: "TOO_MANY_REQUESTS", message });
  },
);
