import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints, websites } from "../../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import {
  attribute,
  calledOf,
  eachStage,
  only,
  reference,
  resourcesOf,
  servedIn,
  statementsOf,
  type Template,
  textOf,
} from "./template.ts";

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

const permissionProperties = z.object({
  Action: z.string(),
  Principal: z.string(),
  SourceArn: z.unknown(),
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
const pages = websites.flatMap(({ id, paths }) => paths.map((path) => ({ route: `GET ${path}`, id })));

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
  const paths = [...new Set(declared.map(({ path }) => path))];

  test(`${stage} has a route for each declared verb, ANY for the others of a path, and no other`, () => {
    const others = paths.map((path) => `ANY ${path}`);
    expect(routes.map(({ route }) => route).sort()).toEqual(
      [...declared, ...pages]
        .map(({ route }) => route)
        .concat(others)
        .sort(),
    );
  });

  test.each(served)("every path of $id runs the endpoint's own function", ({ id, ...endpoint }) => {
    const names = declared.filter((one) => one.endpoint.id === id).map(({ route }) => route);
    const own = routes.filter(({ route }) => names.includes(route));
    expect(own).toHaveLength(names.length);
    for (const { Integration } of own) {
      expect(Integration.Type).toBe("AWS_PROXY");
      expect(Integration.IntegrationHttpMethod).toBe("POST");
      const [version, operation] =
        "streamed" in endpoint
          ? ["2021-11-15", "response-streaming-invocations"]
          : ["2015-03-31", "invocations"];
      const run = `:lambda:path/${version}/functions/${textOf(calledOf(id, from))}/${operation}`;
      expect(Integration.ResponseTransferMode).toBe("streamed" in endpoint ? "STREAM" : "BUFFERED");
      expect(textOf(Integration.Uri)).toMatch(new RegExp(`^arn:.*${escaped(run)}$`));
    }
  });

  test.each(pages)("$route runs the function of its website without an authorizer", ({ route, id }) => {
    const { AuthorizationType, AuthorizerId, Integration } = only(
      routes.filter((made) => made.route === route),
      route,
    );
    expect({ AuthorizationType, AuthorizerId }).toEqual({
      AuthorizationType: "NONE",
      AuthorizerId: undefined,
    });
    expect(Integration).toMatchObject({ Type: "AWS_PROXY", ResponseTransferMode: "BUFFERED" });
    expect(textOf(Integration.Uri)).toContain(`/functions/${textOf(calledOf(id, from))}/invocations`);
  });

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

  test(`API Gateway runs the functions of ${stage} by one role, which may run what answers requests and nothing else`, () => {
    const authorizer = z.object({ AuthorizerCredentials: attribute });
    const roles = [
      ...resourcesOf("AWS::ApiGateway::Authorizer", authorizer, from).map(
        ({ properties }) => properties.AuthorizerCredentials,
      ),
      ...routes.flatMap(({ Integration: { Type, Credentials } }) => (Type === "MOCK" ? [] : [Credentials])),
    ].map(textOf);
    const role = only([...new Set(roles)], "roles").replace(/^\$\{(\w+)\.Arn\}$/, "$1");
    const called = new Set([
      "authorizer/authorize",
      ...[...served, ...websites].map(({ id }) => id),
    ] as const);
    const statement = only(statementsOf(role, from), "statements");
    expect(statement.Action).toEqual(["lambda:InvokeFunction"]);
    expect(statement.Resource.map(textOf).sort()).toEqual(
      [...called].map((id) => textOf(calledOf(id, from))).sort(),
    );
  });

  test(`only EventBridge and Secrets Manager have permissions on functions of ${stage}, each for its source`, () => {
    const permissions = resourcesOf("AWS::Lambda::Permission", permissionProperties, from);
    expect(permissions.map(({ properties }) => properties.Principal).sort()).toEqual([
      "events.amazonaws.com",
      "secretsmanager.amazonaws.com",
    ]);
    for (const { properties } of permissions) {
      expect(properties.Action).toBe("lambda:InvokeFunction");
      expect(properties.SourceArn).toBeDefined();
    }
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

  test(`the API of ${stage} treats every media type as binary`, () => {
    const { properties } = only(
      resourcesOf("AWS::ApiGateway::RestApi", z.object({ BinaryMediaTypes: z.array(z.string()) }), from),
      "APIs",
    );
    expect(properties.BinaryMediaTypes).toEqual(["*/*"]);
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

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
