import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints } from "../../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { attribute, eachStage, only, reference, resourcesOf, servedIn, type Template } from "./template.ts";

const resourceProperties = z.object({
  ParentId: z.union([reference, attribute]),
  PathPart: z.string(),
  RestApiId: reference,
});

const methodProperties = z.object({
  HttpMethod: z.string(),
  ResourceId: z.union([reference, attribute]),
  RestApiId: reference,
  AuthorizationType: z.string(),
  AuthorizerId: z.unknown().optional(),
  ApiKeyRequired: z.boolean().optional(),
  Integration: z.object({
    Type: z.string(),
    IntegrationHttpMethod: z.string().optional(),
    Uri: z.unknown().optional(),
    ResponseTransferMode: z.string().optional(),
    Credentials: attribute.optional(),
  }),
});

/** The path of a resource, from its parents' parts. */
function pathOf(id: z.output<typeof methodProperties>["ResourceId"], from: Template): string {
  if ("Fn::GetAtt" in id) return "";
  const resources = resourcesOf("AWS::ApiGateway::Resource", resourceProperties, from);
  const { ParentId, PathPart } = only(
    resources.filter(({ logicalId }) => logicalId === id.Ref),
    id.Ref,
  ).properties;
  return `${pathOf(ParentId, from)}/${PathPart}`;
}

function routesIn(from: Template) {
  return resourcesOf("AWS::ApiGateway::Method", methodProperties, from).map(({ logicalId, properties }) => ({
    logicalId,
    route: `${properties.HttpMethod} ${pathOf(properties.ResourceId, from) || "/"}`,
    ...properties,
  }));
}

const routesOf = (served: readonly Endpoint[]) =>
  served.flatMap((endpoint) =>
    pathsOf(endpoint).flatMap((path) =>
      verbsOf(endpoint).map((verb) => ({ route: `${verb} ${path}`, path, endpoint })),
    ),
  );

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
  const routes = routesIn(from);
  const served = servedIn[stage].endpoints;
  const declared = routesOf(served);

  test(`each route of ${stage} has the authorizer of its scope, and none without a scope`, () => {
    const asked = new Map<string, unknown>();
    for (const { route, endpoint } of declared) {
      const { AuthorizationType, AuthorizerId } = only(
        routes.filter((made) => made.route === route),
        route,
      );
      const { scope } = endpoint;
      if (scope !== null) asked.set(scope, asked.get(scope) ?? AuthorizerId);
      expect({ route, AuthorizationType, AuthorizerId }).toEqual(
        scope === null
          ? { route, AuthorizationType: "NONE", AuthorizerId: undefined }
          : { route, AuthorizationType: "CUSTOM", AuthorizerId: asked.get(scope) },
      );
    }
    const made = resourcesOf("AWS::ApiGateway::Authorizer", z.unknown(), from);
    const named = [...asked.values()].map((id) => z.object({ Ref: z.string() }).parse(id).Ref);
    expect(named.sort()).toEqual(made.map(({ logicalId }) => logicalId).sort());
  });

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
    const served = [...routes, ...responses].map(({ logicalId }) => logicalId);
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
