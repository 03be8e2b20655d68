import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Throttling } from "../../infra/stage.ts";
import { stageThrottling } from "../../infra/throttling.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { everySetting } from "./shared-templates.ts";
import {
  configured,
  eachStage,
  only,
  resourcesOf,
  sharedTemplate,
  type Template,
  textOf,
} from "./template.ts";

const apiProperties = z.object({
  DisableExecuteApiEndpoint: z.boolean(),
  EndpointConfiguration: z.object({ Types: z.array(z.string()) }),
  Name: z.string(),
  SecurityPolicy: z.string(),
});

const stageProperties = z.object({
  AccessLogSetting: z.object({
    DestinationArn: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
    Format: z.string(),
  }),
  MethodSettings: z.array(z.record(z.string(), z.unknown())),
  StageName: z.string(),
  TracingEnabled: z.boolean(),
});

const apiOf = (from: Template) =>
  only(resourcesOf("AWS::ApiGateway::RestApi", apiProperties, from), "APIs").properties;

const stageOf = (from: Template) =>
  only(resourcesOf("AWS::ApiGateway::Stage", stageProperties, from), "stages");

/** Variables of an access log that hold nothing that was sent, nor who sent it. */
const harmless = [
  /^\$context\.(?:\w*[rR]equestId|xrayTraceId|requestTimeEpoch|httpMethod|resourcePath|status)$/,
  /^\$context\.(?:responseLatency|responseLength|error\.responseType)$/,
  /^\$context\.(?:integration|authorizer|waf)\.(?:status|latency|timeToFirstContent)$/,
];

/** The settings that a stage has for the throttling of a deployment: for each named method, and for all others. */
function settingsFor(context: Readonly<Record<string, unknown>>) {
  const { named, others } = stageThrottling(settingsOf(context));
  const limit = (ResourcePath: string, HttpMethod: string, { rate, burst }: Throttling) => ({
    ResourcePath,
    HttpMethod,
    ThrottlingRateLimit: rate,
    ThrottlingBurstLimit: burst,
  });
  const each = Object.entries(named).map(([method, throttling]) => {
    const [, path = "", verb = ""] = /^(.*)\/([A-Z]+)$/.exec(method) ?? [];
    return limit(path === "/" ? "/" : `/${path.replaceAll("/", "~1")}`, verb, throttling);
  });
  return [limit("/*", "*", others), ...each];
}

describe.each(eachStage)("API of %s", (stage, from) => {
  const { properties, dependsOn } = stageOf(from);
  const line = z.record(z.string(), z.string()).parse(JSON.parse(properties.AccessLogSetting.Format));

  test(`the access log of ${stage} is JSON with one variable for each member`, () => {
    expect(line).toMatchObject({
      requestId: "$context.requestId",
      route: "$context.resourcePath",
      status: "$context.status",
    });
  });

  test(`the access log of ${stage} holds no body, token, query, path, address or caller`, () => {
    expect(Object.values(line).filter((one) => !harmless.some((form) => form.test(one)))).toEqual([]);
  });

  test(`the access log of ${stage} expires, and the API's stage depends on the right to write it`, () => {
    const [group] = properties.AccessLogSetting.DestinationArn["Fn::GetAtt"];
    expect(from.Resources[group]).toMatchObject({
      Type: "AWS::Logs::LogGroup",
      Properties: { RetentionInDays: stage === "prod" ? 90 : 7 },
    });
    const account = only(
      resourcesOf("AWS::ApiGateway::Account", z.object({ CloudWatchRoleArn: z.unknown() }), from),
      "accounts",
    );
    expect(dependsOn).toContain(account.logicalId);
    // A setting of the whole account: other APIs may log by it when this stack is gone.
    expect(account.deletionPolicy).toBe("Retain");
  });

  // https://github.com/hashicorp/terraform-provider-aws/issues/15855
  test(`the stage ${stage} has no setting for ANY, and few patches, as API Gateway refuses others`, () => {
    expect(properties.MethodSettings.filter(({ HttpMethod }) => HttpMethod === "ANY")).toEqual([]);
    const patches = properties.MethodSettings.flatMap(
      ({ HttpMethod: _verb, ResourcePath: _path, ...fields }) => Object.keys(fields),
    );
    expect(patches.length).toBeLessThanOrEqual(stage === "prod" ? 90 : 120);
  });
});

test("the settings throttlingRate, throttlingBurst and reservedConcurrency reach the stage", () => {
  const { MethodSettings } = stageOf(configured).properties;
  expect(MethodSettings).toEqual(expect.arrayContaining(settingsFor(everySetting)));
});

test("gatewayLogRole existing leaves the account's role for logs as it is", () => {
  const { Resources } = configured;
  const kinds = Object.entries(Resources).filter(
    ([, { Type, Properties }]) =>
      Type === "AWS::ApiGateway::Account" || JSON.stringify(Properties).includes("PushToCloudWatchLogs"),
  );
  expect(kinds.map(([logicalId]) => logicalId)).toEqual([]);
});

describe("a host name of the operator's", () => {
  const { certificateArn, domainName } = everySetting;
  const withoutZone = sharedTemplate("someSettings");

  test("a custom domain has the operator's certificate and requires TLS 1.2", () => {
    const { properties } = only(
      resourcesOf("AWS::ApiGateway::DomainName", z.record(z.string(), z.unknown()), configured),
      "domains",
    );
    expect(properties).toEqual({
      DomainName: domainName,
      EndpointConfiguration: { Types: ["REGIONAL"] },
      RegionalCertificateArn: certificateArn,
      SecurityPolicy: "TLS_1_2",
    });
    // What API Gateway goes by in the end is the policy of the API.
    expect(apiOf(configured).SecurityPolicy).toBe("TLS_1_2");
  });

  test("a custom domain leaves AWS's host name open until awsHost closes it, with a deployment of the API each", () => {
    expect(apiOf(withoutZone).DisableExecuteApiEndpoint).toBe(false);
    expect(apiOf(configured).DisableExecuteApiEndpoint).toBe(true);
    for (const template of [withoutZone, configured]) {
      expect(JSON.stringify(template.Outputs)).not.toContain("execute-api");
      expect(template.Outputs.ApiAddress?.Value).toBe(`https://${domainName}`);
    }
    // API Gateway closes a host name with the next deployment of the API only.
    const [open, closed] = [sharedTemplate("hostOpen"), sharedTemplate("hostClosed")].map((from) => ({
      deployment: only(resourcesOf("AWS::ApiGateway::Deployment", z.unknown(), from), "deployments")
        .logicalId,
      isClosed: apiOf(from).DisableExecuteApiEndpoint,
    }));
    expect([open?.isClosed, closed?.isClosed]).toEqual([false, true]);
    expect(open?.deployment).not.toBe(closed?.deployment);
  });

  test("a custom domain gets records for IPv4 and IPv6 in the operator's zone", () => {
    const { hostedZoneId } = everySetting;
    const records = resourcesOf(
      "AWS::Route53::RecordSet",
      z.object({ HostedZoneId: z.string(), Name: z.string(), Type: z.string() }),
      configured,
    ).map(({ properties }) => properties);
    expect(records.map(({ Type }) => Type).sort()).toEqual(["A", "AAAA"]);
    for (const { Type: _, ...named } of records) {
      expect(named).toEqual({ HostedZoneId: hostedZoneId, Name: `${domainName}.` });
    }
  });

  test("a custom domain without a zone has the target of its record among the outputs", () => {
    expect(resourcesOf("AWS::Route53::RecordSet", z.unknown(), withoutZone)).toEqual([]);
    const { logicalId } = only(
      resourcesOf("AWS::ApiGateway::DomainName", z.unknown(), withoutZone),
      "domains",
    );
    expect(textOf(withoutZone.Outputs.ApiRecordTarget?.Value)).toBe(`\${${logicalId}.RegionalDomainName}`);
  });
});
