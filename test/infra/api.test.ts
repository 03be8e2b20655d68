import { describe, expect, test } from "vitest";
import * as z from "zod";
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

const apiProperties = z.object({ DisableExecuteApiEndpoint: z.boolean() });

const stageProperties = z.object({
  AccessLogSetting: z.object({
    DestinationArn: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
    Format: z.string(),
  }),
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
});

describe("a host name of the operator's", () => {
  const { domainName } = everySetting;
  const withoutZone = sharedTemplate("someSettings");

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

  test("a custom domain without a zone has the target of its record among the outputs", () => {
    expect(resourcesOf("AWS::Route53::RecordSet", z.unknown(), withoutZone)).toEqual([]);
    const { logicalId } = only(
      resourcesOf("AWS::ApiGateway::DomainName", z.unknown(), withoutZone),
      "domains",
    );
    expect(textOf(withoutZone.Outputs.ApiRecordTarget?.Value)).toBe(`\${${logicalId}.RegionalDomainName}`);
  });
});
