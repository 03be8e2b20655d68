import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { requestRateOf } from "../../infra/throttling.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import { everySetting } from "./shared-templates.ts";
import {
  configured,
  eachStage,
  only,
  reference,
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

/**
 * Variables of an access log that hold what was sent, or who sent it. The message of a gateway's error is among them:
 * it may repeat the `Authorization` header.
 */
const telling = new RegExp(
  [
    String.raw`\.(?:identity|path|customDomain|domain\w*|authenticate|requestOverride|responseOverride)\b`,
    String.raw`\.authorizer\.(?:principalId|claims|error|property|client|subscription)\b`,
    String.raw`error\.(?:message|validation)|[eE]rror(?:Message|String)?$|authorize\.error`,
  ].join("|"),
);

/** Every path, as the settings of a stage name it. */
const paths = [...new Set(endpoints.flatMap(pathsOf))].map((path) => `/${path.replaceAll("/", "~1")}`);

/** The methods that need a token and have no limit of their own, as the settings of a stage name them. */
const guardedMethods = (endpoints as readonly Endpoint[])
  .filter(({ scope }) => scope !== null)
  .flatMap((endpoint) => pathsOf(endpoint).map((path) => [endpoint.method, path] as const))
  .filter(([, path]) => !/\/(?:operations|capabilities)/.test(path))
  .map(([verb, path]) => [verb, `/${path.replaceAll("/", "~1")}`] as const);

/** The methods of operations, as the settings of a stage name them. */
const operationMethods = (
  [
    ["GET", ""],
    ["GET", "~1{operationId}"],
    ["DELETE", "~1{operationId}"],
    ["POST", "~1{operationId}~1redeliver"],
  ] as const
).flatMap(([verb, rest]) =>
  ["/~1populationdensitydata", "/~1population-density-data~1v0.3"].map(
    (family) => [verb, `${family}~1operations${rest}`] as const,
  ),
);

describe.each(eachStage)("API of %s", (stage, from) => {
  const { properties, dependsOn } = stageOf(from);
  const line = z.record(z.string(), z.string()).parse(JSON.parse(properties.AccessLogSetting.Format));

  test("each line of the access log is JSON with one variable for each member, as text", () => {
    for (const variable of Object.values(line)) expect(variable).toMatch(/^\$context\.[a-zA-Z.]+$/);
    expect(line).toMatchObject({
      requestId: "$context.requestId",
      route: "$context.resourcePath",
      status: "$context.status",
    });
  });

  test("no line holds a body, a token, a query, a path as it was sent, an address or a caller", () => {
    expect(Object.values(line).filter((variable) => telling.test(variable))).toEqual([]);
    // The pattern itself finds what it is for.
    const found = [
      "identity.sourceIp",
      "identity.userAgent",
      "path",
      "error.message",
      "error.messageString",
      "error.validationErrorString",
      "authorizer.principalId",
      "authorizer.claims.sub",
      "authorizer.error",
      "authorizer.client",
      "authorize.error",
      "integrationErrorMessage",
      "requestOverride.header.authorization",
    ].filter((name) => !telling.test(`$context.${name}`));
    expect(found).toEqual([]);
  });

  test("the log is a group of its own that forgets, and API Gateway may write there before it is to", () => {
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

  test("each method is throttled, logins, documents and pages below the others, and logged in no other way", () => {
    const each = requestRateOf(stage);
    const logins = stage === "prod" ? 100 : 20;
    const setting = (HttpMethod: string, ResourcePath: string, rate: number, burst: number) => ({
      HttpMethod,
      ResourcePath,
      ThrottlingRateLimit: rate,
      ThrottlingBurstLimit: burst,
    });
    const expected = [
      setting("*", "/*", 2, 2),
      ...guardedMethods.map(([verb, path]) => setting(verb, path, each, Math.ceil(each / 2))),
      setting("POST", "/~1v3~1profile~1authenticate", logins, logins / 4),
      setting("POST", "/~1profile~1authenticate", logins, logins / 4),
      setting("GET", "/~1populationdensitydata~1capabilities", 40, 20),
      setting("GET", "/~1population-density-data~1v0.3~1capabilities", 40, 20),
      ...operationMethods.map(([verb, path]) => setting(verb, path, 70, 35)),
      setting("GET", "/~1.well-known~1jwks.json", 20, 10),
      setting("GET", "/~1openapi.json", 20, 10),
      setting("GET", "/~1.well-known~1api-catalog", 20, 10),
      setting("HEAD", "/~1.well-known~1api-catalog", 20, 10),
      setting("GET", "/", 10, 10),
      setting("GET", "/~1reference", 10, 10),
      setting("GET", "/~1assets~1{name}", 40, 40),
      // The template of dev allows pages of this machine, which ask first.
      ...(stage === "dev" ? paths.map((path) => setting("OPTIONS", path, 15, 10)) : []),
    ];
    expect(properties.MethodSettings).toHaveLength(expected.length);
    expect(properties.MethodSettings).toEqual(expect.arrayContaining(expected));
  });

  // https://github.com/hashicorp/terraform-provider-aws/issues/15855
  test("no setting names a method ANY, and all together are few: API Gateway refuses others", () => {
    expect(properties.MethodSettings.filter(({ HttpMethod }) => HttpMethod === "ANY")).toEqual([]);
    const patches = properties.MethodSettings.flatMap(
      ({ HttpMethod: _verb, ResourcePath: _path, ...fields }) => Object.keys(fields),
    );
    expect(patches.length).toBeLessThanOrEqual(stage === "prod" ? 80 : 120);
  });

  test("requests are traced in callers' stage alone", () => {
    expect(properties.TracingEnabled).toBe(stage === "prod");
  });

  test("TLS is 1.2 or newer, under the API's own host name too", () => {
    expect(apiOf(from)).toMatchObject({
      SecurityPolicy: "TLS_1_2",
      EndpointConfiguration: { Types: ["REGIONAL"] },
      DisableExecuteApiEndpoint: false,
    });
  });
});

test("throttling is what is said, and lets through no more logins at once than have executions reserved", () => {
  const { properties } = stageOf(configured);
  const login = { HttpMethod: "POST", ThrottlingRateLimit: 40, ThrottlingBurstLimit: 25 };
  const capabilities = { HttpMethod: "GET", ThrottlingRateLimit: 40, ThrottlingBurstLimit: 20 };
  const expected = [
    { HttpMethod: "*", ResourcePath: "/*", ThrottlingRateLimit: 2, ThrottlingBurstLimit: 2 },
    ...guardedMethods.map(([HttpMethod, ResourcePath]) => ({
      HttpMethod,
      ResourcePath,
      ThrottlingRateLimit: 40,
      ThrottlingBurstLimit: 60,
    })),
    { ResourcePath: "/~1v3~1profile~1authenticate", ...login },
    { ResourcePath: "/~1profile~1authenticate", ...login },
    { ResourcePath: "/~1populationdensitydata~1capabilities", ...capabilities },
    { ResourcePath: "/~1population-density-data~1v0.3~1capabilities", ...capabilities },
    ...operationMethods.map(([HttpMethod, ResourcePath]) => ({
      HttpMethod,
      ResourcePath,
      ThrottlingRateLimit: 40,
      ThrottlingBurstLimit: 35,
    })),
  ];
  expect(properties.MethodSettings).toEqual(expect.arrayContaining(expected));
});

test("an account whose API Gateway may write logs already is left as it is", () => {
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

  test("is served with the operator's certificate, over TLS 1.2 or newer", () => {
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

  test("leads to the one stage, from its root", () => {
    const { properties } = only(
      resourcesOf(
        "AWS::ApiGateway::BasePathMapping",
        z.strictObject({ DomainName: reference, RestApiId: reference, Stage: reference }),
        configured,
      ),
      "mappings",
    );
    expect(properties.Stage.Ref).toBe(stageOf(configured).logicalId);
  });

  test("is the only one: the API's own answers no longer", () => {
    expect(apiOf(configured).DisableExecuteApiEndpoint).toBe(true);
    expect(JSON.stringify(configured.Outputs)).not.toContain("execute-api");
    expect(configured.Outputs.ApiAddress?.Value).toBe(`https://${domainName}`);
  });

  test("goes into the operator's zone", () => {
    const { properties } = only(
      resourcesOf(
        "AWS::Route53::RecordSet",
        z.object({ HostedZoneId: z.string(), Name: z.string(), Type: z.string() }),
        configured,
      ),
      "records",
    );
    const { hostedZoneId } = everySetting;
    expect(properties).toEqual({ HostedZoneId: hostedZoneId, Name: `${domainName}.`, Type: "A" });
  });

  test("without a zone the outputs say what a record points to", () => {
    expect(resourcesOf("AWS::Route53::RecordSet", z.unknown(), withoutZone)).toEqual([]);
    const { logicalId } = only(
      resourcesOf("AWS::ApiGateway::DomainName", z.unknown(), withoutZone),
      "domains",
    );
    expect(textOf(withoutZone.Outputs.ApiRecordTarget?.Value)).toBe(`\${${logicalId}.RegionalDomainName}`);
  });
});
