import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpoints, protocolEndpoints } from "../../functions/areas.ts";
import { functionVariables } from "../../infra/function-variables.ts";
import { type FunctionId, functionDefaults, functionRecords } from "../../infra/functions.ts";
import * as gateway from "../../infra/gateway.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { type Code, errorRow, errors } from "../../shared/errors.ts";
import * as sqs from "../../shared/sqs/queues.ts";
import { rotationDays } from "../../shared/tokens/rotation.ts";
import {
  arnOf,
  eachStage,
  functionIdsOf,
  functionOf,
  only,
  pathOf,
  queueOf,
  readNotes,
  reference,
  resourcesOf,
  settingsByStage,
  statementsOf,
  tableNameOf,
  textOf,
} from "./template.ts";

/** Properties with texts for what is known when deployed, without the API: there is one. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (/^(?:Ref|Fn::\w+)$/.test(Object.keys(value).join())) return textOf(value);
  const { RestApiId: _, ...members } = z.looseObject({}).parse(value);
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, plain(member)]));
}

const properties = z.unknown().transform((given) => z.record(z.string(), z.unknown()).parse(plain(given)));

describe.each(eachStage)("what is declared, in %s", (stage, from) => {
  const settings = settingsByStage[stage];
  const ids = functionIdsOf[stage];
  const all = (type: string) => resourcesOf(type, properties, from);
  const one = (type: string) => only(all(type), type);
  const aliases = resourcesOf("AWS::Lambda::Alias", z.object({ FunctionName: reference }), from);

  /** What is invoked of a function: its alias where it is released gradually. */
  function invoked(id: FunctionId): string {
    const alias = aliases.find((found) => found.properties.FunctionName.Ref === functionOf(id));
    return textOf(alias === undefined ? arnOf(functionOf(id)) : { Ref: alias.logicalId });
  }

  const uriOf = (id: FunctionId, isStreamed = false) =>
    expect.stringContaining(
      isStreamed
        ? `:lambda:path/2021-11-15/functions/${invoked(id)}/response-streaming-invocations`
        : `:lambda:path/2015-03-31/functions/${invoked(id)}/invocations`,
    );
  const role = only(
    Object.keys(from.Resources).filter((id) => /^ApiInvokesFunctions[0-9A-F]{8}$/.test(id)),
    "roles of the API",
  );
  const authorizerOf = (scope: string) => `Authorizer${scope.replaceAll(/[^a-z]/g, "")}`;
  const secret = textOf({ Ref: one("AWS::SecretsManager::Secret").logicalId });
  const rotate = textOf(arnOf(functionOf("keys/rotate")));
  const consumers = ids.filter((id) => functionRecords[id].consumes !== undefined);
  const scheduled = ids.filter((id) => functionRecords[id].everyMinutes !== undefined);

  test(`each method of ${stage} has its authorizer, its function, its way of sending and API Gateway's own time-out`, () => {
    const made = resourcesOf("AWS::ApiGateway::Method", z.looseObject({ HttpMethod: z.string() }), from);
    const found = made.map(({ properties: { HttpMethod, ResourceId, MethodResponses: _, ...given } }) => {
      const name = `${HttpMethod} ${pathOf(ResourceId, from)}`;
      return [name, HttpMethod === "ANY" ? given.AuthorizationType : plain(given)];
    });
    const declared = gateway.methodsOf(settings).map(({ path, verb, functionId, scope, streamed }) => {
      const AuthorizerId = expect.stringMatching(`^\\$\\{${authorizerOf(scope ?? "")}[0-9A-F]{8}\\}$`);
      const Integration = {
        Type: "AWS_PROXY",
        IntegrationHttpMethod: "POST",
        ResponseTransferMode: streamed ? "STREAM" : "BUFFERED",
        Credentials: textOf(arnOf(role)),
        Uri: uriOf(functionId, streamed),
      };
      const open = { AuthorizationType: "NONE", Integration };
      const closed = { AuthorizationType: "CUSTOM", AuthorizerId, Integration };
      return [`${verb} ${path}`, scope === null ? open : closed];
    });
    const others = gateway.otherVerbsOf(settings).map(({ path }) => [`ANY ${path}`, "NONE"]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...declared, ...others]));
  });

  const permission = (FunctionName: string, service: string, SourceArn: string) => {
    const Principal = `${service}.amazonaws.com`;
    return { Action: "lambda:InvokeFunction", FunctionName, Principal, SourceArn };
  };
  const called = (id: FunctionId) =>
    stage === "dev"
      ? `\${${functionOf(id)}}`
      : `{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"${invoked(id).slice(2, -1)}"}]}]}:live`;

  test.each<[string, unknown[]]>([
    [
      "AWS::ApiGateway::Authorizer",
      gateway.scopes.map((scope) => ({
        Type: "TOKEN",
        Name: expect.stringContaining(authorizerOf(scope)),
        AuthorizerCredentials: textOf(arnOf(role)),
        AuthorizerResultTtlInSeconds: gateway.authorizer.cacheSeconds,
        AuthorizerUri: uriOf(gateway.authorizer.functionId),
        IdentitySource: `method.request.header.${gateway.authorizer.header}`,
        IdentityValidationExpression: gateway.authorizer.expression,
      })),
    ],
    [
      "AWS::ApiGateway::GatewayResponse",
      gateway.gatewayResponsesOf(settings.corsOrigins).map(({ type, status, headers, template }) => ({
        ResponseType: type,
        StatusCode: String(status),
        ResponseParameters: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]),
        ),
        ResponseTemplates: { "application/json": template },
      })),
    ],
    [
      "AWS::SQS::Queue",
      (Object.keys(sqs.queues) as sqs.QueueName[]).map((name) => {
        const { queue, maxReceiveCount } = sqs.queueDescription(name).deadLetters ?? {};
        return {
          KmsDataKeyReusePeriodSeconds: expect.any(Number),
          KmsMasterKeyId: expect.stringMatching("DataKey"),
          MessageRetentionPeriod: sqs.retentionDays * 86_400,
          VisibilityTimeout: sqs.visibilitySeconds,
          RedrivePolicy: queue && { deadLetterTargetArn: textOf(arnOf(queueOf(queue))), maxReceiveCount },
        };
      }),
    ],
    [
      // A filter or a switch would keep messages from their function, a window would keep them waiting.
      "AWS::Lambda::EventSourceMapping",
      consumers.map((id) => ({
        BatchSize: sqs.batchSize,
        EventSourceArn: textOf(arnOf(queueOf(functionRecords[id].consumes ?? expect.fail()))),
        FunctionName: called(id),
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: settings.maxWorkers },
      })),
    ],
    [
      "AWS::Events::Rule",
      scheduled.map((id) => ({
        ScheduleExpression: expect.stringMatching(`^rate\\(${functionRecords[id].everyMinutes} minutes?\\)$`),
        State: "ENABLED",
        Targets: [{ Id: "Target0", Arn: invoked(id), RetryPolicy: { MaximumRetryAttempts: 0 } }],
      })),
    ],
    [
      // No event is run a second time, and none that is older than a minute.
      "AWS::Lambda::EventInvokeConfig",
      scheduled.map((id) => ({
        FunctionName: `\${${functionOf(id)}}`,
        MaximumEventAgeInSeconds: 60,
        MaximumRetryAttempts: 0,
        // The name in the ARN of the alias.
        Qualifier:
          stage === "dev" ? "$LATEST" : expect.stringContaining(`"Ref":"${invoked(id).slice(2, -1)}"`),
      })),
    ],
    [
      "AWS::SecretsManager::RotationSchedule",
      [
        {
          RotateImmediatelyOnUpdate: true,
          RotationLambdaARN: rotate,
          RotationRules: { AutomaticallyAfterDays: rotationDays },
          SecretId: secret,
        },
      ],
    ],
    [
      "AWS::Lambda::Permission",
      [
        permission(rotate, "secretsmanager", secret),
        ...scheduled.map((id) =>
          permission(invoked(id), "events", textOf(arnOf(one("AWS::Events::Rule").logicalId))),
        ),
      ],
    ],
  ])(`each %s of ${stage} is as declared, and there is no other`, (type, declared) => {
    expect(all(type).map((found) => found.properties)).toEqual(declared);
  });

  test(`each function of ${stage} has the time, memory and executions of its record, and its variables`, () => {
    const made = ids.map((id) => {
      const { Timeout, MemorySize, ReservedConcurrentExecutions, EphemeralStorage, Environment } =
        properties.parse(from.Resources[functionOf(id)]?.Properties);
      return { id, Timeout, MemorySize, ReservedConcurrentExecutions, EphemeralStorage, Environment };
    });
    const declared = ids.map((id) => {
      const { timeoutSeconds, memoryMegabytes } = { ...functionDefaults, ...functionRecords[id] };
      const Variables = functionVariables(id, settings, {
        table: (name) => tableNameOf(name, stage),
        queueUrl: (name) => `\${${queueOf(name)}}`,
        signingKeySecretArn: secret,
        metricNamespace: stackNames[stage],
      });
      const reserved = settings.reservedConcurrency[id];
      const sizes = {
        Timeout: timeoutSeconds,
        MemorySize: memoryMegabytes,
        ReservedConcurrentExecutions: reserved,
      };
      return { id, ...sizes, Environment: { Variables } };
    });
    expect(made).toEqual(declared);
  });

  test(`the API of ${stage} takes any bytes, and compresses from the declared size on`, () => {
    expect(one("AWS::ApiGateway::RestApi").properties).toMatchObject({
      BinaryMediaTypes: ["*/*"],
      MinimumCompressionSize: gateway.compressedKibibytes * 1_024,
    });
  });

  test(`the deployment, the consumers and the rotation of ${stage} depend on what they need when they begin`, () => {
    const deployment = one("AWS::ApiGateway::Deployment");
    const parts = ["AWS::ApiGateway::Method", "AWS::ApiGateway::GatewayResponse"].flatMap(all);
    expect(one("AWS::ApiGateway::Stage").properties).toMatchObject({
      DeploymentId: `\${${deployment.logicalId}}`,
      StageName: gateway.apiStage,
    });
    expect(deployment.dependsOn).toEqual(expect.arrayContaining(parts.map(({ logicalId }) => logicalId)));
    expect(one("AWS::Lambda::EventSourceMapping").dependsOn[0]).toMatch(/^PopulationDensityDeliverRole/);
    const [permitted] = all("AWS::Lambda::Permission").map(({ logicalId }) => logicalId);
    expect(one("AWS::SecretsManager::RotationSchedule").dependsOn).toContain(permitted);
  });

  test(`the API of ${stage} may invoke the functions of its methods and authorizers alone, and nobody reaches one otherwise`, () => {
    const answering = gateway.methodsOf(settings).map(({ functionId }) => functionId);
    const [statement, ...others] = statementsOf(role, from);
    expect(others).toEqual([]);
    expect(statement?.Action).toEqual(["lambda:InvokeFunction"]);
    expect(new Set(statement?.Resource.map(textOf))).toEqual(
      new Set([gateway.authorizer.functionId, ...answering].map(invoked)),
    );
    const types = new Set(Object.values(from.Resources).map(({ Type }) => Type));
    const invoking = /^Custom::|::Url$|::Subscription$|ElasticLoadBalancing|Cognito/;
    // CloudFormation invokes the check of releases.
    expect([...types].filter((type) => invoking.test(type))).toEqual(
      stage === "prod" ? ["Custom::ReleaseCheck"] : [],
    );
  });
});

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

test("the error catalogue has every type that CDK knows API Gateway to answer with, each once", () => {
  const known = readNotes().gatewayResponses;
  const rows = (Object.keys(errors) as Code[]).flatMap((code) => errorRow(code).gatewayResponses ?? []);
  expect(known.length).toBeGreaterThan(20);
  expect(rows.toSorted()).toEqual(known.toSorted());
});

test("API Gateway substitutes nothing in its own answers but the scope that is needed", () => {
  const bodies = gateway.gatewayResponsesOf([]).map(({ template }) => template);
  expect(bodies.join("").replace("$context.authorizer.neededScope", "")).not.toMatch(/[$#]/);
});
