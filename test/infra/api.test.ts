import { describe, expect, test } from "vitest";
import * as z from "zod";
import { everySetting } from "./shared-templates.ts";
import { configured, only, resourcesOf, sharedTemplate, type Template, textOf } from "./template.ts";

const apiProperties = z.object({ DisableExecuteApiEndpoint: z.boolean() });

const apiOf = (from: Template) =>
  only(resourcesOf("AWS::ApiGateway::RestApi", apiProperties, from), "APIs").properties;

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
