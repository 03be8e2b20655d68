import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints } from "../../functions/areas.ts";
import { eachStage, only, reference, resourcesOf } from "./template.ts";

test("only logins, tokens of clients, the public keys and descriptions need no token", () => {
  const open = [...endpoints, ...protocolEndpoints].filter(({ scope }) => scope === null);
  expect(open.map(({ id }) => id).sort()).toEqual([
    "keys/publish",
    "oauth2/metadata",
    "oauth2/token",
    "openapi/catalog",
    "openapi/publish",
    "profile/authenticate",
  ]);
});

describe.each(eachStage)("routes of %s", (stage, from) => {
  test(`the API's deployment in ${stage} depends on all routes and gateway responses`, () => {
    const deployment = only(resourcesOf("AWS::ApiGateway::Deployment", z.unknown(), from), "deployments");
    const stage = only(
      resourcesOf(
        "AWS::ApiGateway::Stage",
        z.object({ DeploymentId: reference, StageName: z.string() }),
        from,
      ),
      "stages",
    );
    expect(stage.properties).toEqual({ DeploymentId: { Ref: deployment.logicalId }, StageName: "live" });
    const responses = resourcesOf("AWS::ApiGateway::GatewayResponse", z.unknown(), from);
    const methods = resourcesOf("AWS::ApiGateway::Method", z.unknown(), from);
    const served = [...methods, ...responses].map(({ logicalId }) => logicalId);
    expect(deployment.dependsOn).toEqual(expect.arrayContaining(served));
  });

  test(`${stage} exposes functions through the API alone`, () => {
    const types = new Set(Object.values(from.Resources).map(({ Type }) => Type));
    const invoking = /^Custom::|::Url$|::Subscription$|ElasticLoadBalancing|Cognito/;
    // CloudFormation invokes the check of releases.
    expect([...types].filter((type) => invoking.test(type))).toEqual(
      stage === "prod" ? ["Custom::ReleaseCheck"] : [],
    );
  });
});
