import { ArnFormat, Stack } from "aws-cdk-lib";
import type { Stage } from "aws-cdk-lib/aws-apigateway";
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";
import { type Code, errorRow } from "../../shared/errors.ts";
import type { StageTraits } from "../stage.ts";
import { managedRules } from "./managed-rules.ts";
import { ServiceLog } from "./service-log.ts";

/** Callers that may use their whole rate from behind one source address. */
const callersBehindOneAddress = 5;

/** Seconds over which requests from one address are counted. */
const windowSeconds = 300;

/** Seconds over which requests with one token are counted. */
const tokenWindowSeconds = 60;

/**
 * How many times its quota a caller may send with one token before requests reach the API. Below that the functions
 * refuse what is too much, with `x-request-id`; above it the buckets of the methods, which all callers share, are spared.
 */
const quotasOfOneToken = 2;

/** The limits that AWS WAF accepts. */
const [minLimit, maxLimit] = [10, 2_000_000_000];

/** Maximum of requests from one source address in the window. */
function maxFromOneAddress(ratePerMinute: number): number {
  return withinLimits(callersBehindOneAddress * ratePerMinute * (windowSeconds / 60));
}

function withinLimits(wanted: number): number {
  return Math.min(maxLimit, Math.max(minLimit, wanted));
}

interface FirewallProps {
  /** The stage of the API. */
  readonly stage: Stage;
  /** What one caller may request in a minute. */
  readonly ratePerMinute: number;
  readonly traits: StageTraits;
}

/**
 * AWS WAF before the API. Requests that one of AWS's rules blocks get the gateway response `WAF_FILTERED`; those that
 * the rate rule blocks get its own response, which takes precedence. Blocked requests are logged, and AWS keeps samples
 * of all requests for three hours: both with source address and path, without headers, query and body.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { stage, ratePerMinute, traits }: FirewallProps) {
    super(scope, id);
    const acl = new CfnWebACL(this, "Acl", {
      scope: "REGIONAL",
      description: "Network Capabilities Service",
      defaultAction: { allow: {} },
      visibilityConfig: counted(`${Stack.of(this).stackName}-all`),
      dataProtectionConfig: { dataProtections: hiddenFields },
      customResponseBodies: {
        [tooMany]: { contentType: "APPLICATION_JSON", content: bodyOf(tooMany) },
      },
      rules: [...rateRules(ratePerMinute), ...Object.entries(managedRules).map(managedRule)],
    });
    new CfnWebACLAssociation(this, "Association", { resourceArn: stage.stageArn, webAclArn: acl.attrArn });
    // WAF writes to logs of no other names: https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
    const log = new ServiceLog(this, "Log", traits, `aws-waf-logs-${Stack.of(this).stackName}`);
    new CfnLoggingConfiguration(this, "Logging", {
      resourceArn: acl.attrArn,
      // WAF wants the ARN without the `:*` with which the log group's attribute ends.
      logDestinationConfigs: [
        Stack.of(this).formatArn({
          service: "logs",
          resource: "log-group",
          resourceName: log.logGroupName,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
      loggingFilter: {
        DefaultBehavior: "DROP",
        Filters: [
          {
            Behavior: "KEEP",
            Requirement: "MEETS_ANY",
            Conditions: [{ ActionCondition: { Action: "BLOCK" } }],
          },
        ],
      },
    });
  }
}

/**
 * The fields that WAF replaces in logs and samples, also in what a rule says it matched. Without keys, all headers and
 * cookies are meant; one header holds the token.
 */
const hiddenFields: CfnWebACL.DataProtectProperty[] = [
  "SINGLE_HEADER",
  "SINGLE_COOKIE",
  "QUERY_STRING",
  "BODY",
].map((fieldType) => ({ field: { fieldType }, action: "SUBSTITUTION" }));

const tooMany = "TOO_MANY_REQUESTS" satisfies Code;

/**
 * Limits what one address and what one token may send. WAF counts by the header's value, and hides it in logs and samples
 * as any header: `hiddenFields` includes what a rate rule counted by, unless that is excluded.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-aggregation-options.html
 * https://docs.aws.amazon.com/waf/latest/APIReference/API_DataProtection.html
 */
function rateRules(ratePerMinute: number): readonly CfnWebACL.RuleProperty[] {
  // The case of the scheme and the spaces after it are the caller's choice: they must not make another token of one.
  const textTransformations = ["LOWERCASE", "COMPRESS_WHITE_SPACE"].map((type, priority) => ({
    priority,
    type,
  }));
  const ofToken = { name: "authorization", textTransformations };
  return [
    rateRule(0, "RequestsFromOneAddress", {
      aggregateKeyType: "IP",
      evaluationWindowSec: windowSeconds,
      limit: maxFromOneAddress(ratePerMinute),
    }),
    rateRule(1, "RequestsWithOneToken", {
      aggregateKeyType: "CUSTOM_KEYS",
      customKeys: [{ header: ofToken }],
      evaluationWindowSec: tokenWindowSeconds,
      limit: withinLimits((quotasOfOneToken * ratePerMinute * tokenWindowSeconds) / 60),
    }),
  ];
}

function rateRule(
  priority: number,
  name: string,
  rateBasedStatement: CfnWebACL.RateBasedStatementProperty,
): CfnWebACL.RuleProperty {
  return {
    name,
    priority,
    statement: { rateBasedStatement },
    action: {
      block: {
        customResponse: {
          responseCode: errorRow(tooMany).status,
          customResponseBodyKey: tooMany,
          responseHeaders: [
            { name: "cache-control", value: "no-store" },
            // Both rules count a minute at least.
            { name: "retry-after", value: "60" },
          ],
        },
      },
    },
    visibilityConfig: counted(name),
  };
}

function managedRule(
  [name, counting]: readonly [name: string, counting: Readonly<Record<string, string>>],
  index: number,
): CfnWebACL.RuleProperty {
  return {
    name,
    priority: 2 + index,
    statement: {
      managedRuleGroupStatement: {
        vendorName: "AWS",
        name,
        ruleActionOverrides: Object.keys(counting).map((rule) => ({
          name: rule,
          actionToUse: { count: {} },
        })),
      },
    },
    overrideAction: { none: {} },
    visibilityConfig: counted(name),
  };
}

function counted(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true, metricName };
}

/** As functions write it. */
function bodyOf(code: Code): string {
  const { status, message } = errorRow(code);
  return JSON.stringify({ status, code, message });
}
