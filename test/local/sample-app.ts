import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, Duration, Stack } from "aws-cdk-lib";
import { LambdaIntegration, ResponseType, RestApi, TokenAuthorizer } from "aws-cdk-lib/aws-apigateway";
import { AttributeType, Billing, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as LambdaTarget } from "aws-cdk-lib/aws-events-targets";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { addQueues } from "./sample-queues.ts";
import { addStreaming } from "./sample-stream.ts";

/** A function that returns a report of its event and environment, or misbehaves as the event asks. */
const sampleFunction = `
import { setTimeout as wait } from "node:timers/promises";
import { threadId } from "node:worker_threads";
let count = 0;
const misbehave = {
  throw: () => { throw new TypeError("a secret of the inside"); },
  exit: () => process.exit(3),
  uncaught: () => new Promise(() => setTimeout(() => { throw new Error("late"); }, 1)),
  spin: () => { for (;;); },
  block: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  hang: () => new Promise(() => setInterval(() => {}, 1000)),
  nothing: () => undefined,
  text: () => ({ statusCode: 200, body: { not: "text" } }),
  status: () => ({ statusCode: "200", body: "" }),
  header: () => ({ statusCode: 200, headers: { "x-bad": "a\\nb" } }),
  large: () => ({ statusCode: 200, body: "x".repeat(7 * 1024 * 1024) }),
  sleep: async () => { await wait(300); },
};
export const handler = async (event) => {
  count++;
  const answer = await misbehave[event.queryStringParameters?.do ?? event.do]?.(event);
  if (answer !== undefined || event.queryStringParameters?.do === "nothing") return answer;
  const report = { event, environment: process.env, threadId, count };
  return event.httpMethod ? { statusCode: 200, body: JSON.stringify(report) } : report;
};
`;

/** An authorizer whose token says what to answer. */
const authorizerFunction = `
let calls = 0;
export const handler = async ({ type, authorizationToken, methodArn }) => {
  calls++;
  const [, what, extra] = authorizationToken.split(" ");
  if (what === "unknown") throw new Error("Unauthorized");
  if (what === "broken") throw new Error("no keys");
  if (what === "hang") return new Promise(() => setInterval(() => {}, 1000));
  if (what === "malformed") return { principalId: "p", policyDocument: { Statement: [{ Effect: "Maybe" }] } };
  const api = methodArn.split("/").slice(0, 2).join("/");
  const statement = (Effect, Resource) => ({ Effect, Action: "execute-api:Invoke", Resource });
  const Statement = what === "deny"
    ? [statement("Allow", "*"), statement("Deny", [api + "/GET/*"])]
    : [statement("Allow", api + "/GET/guarded" + (what === "one" ? "/1" : "/*"))];
  return {
    principalId: "caller",
    policyDocument: { Version: "2012-10-17", Statement },
    context: { calls, flag: true, type, methodArn },
  };
};
`;

/** Optional parts of the sample stack. */
export interface SampleOptions {
  readonly queues?: boolean;
  /** A function that logs its event every five minutes. */
  readonly schedule?: boolean;
}

/** Synthesizes into `cdk.out` of a folder a stack with one of everything that a local run serves. */
export function synthesizeSample(folder: string, { queues = false, schedule = false }: SampleOptions): void {
  const code = (name: string, source: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "index.mjs"), source);
    return Code.fromAsset(join(folder, name));
  };

  const app = new App({
    outdir: join(folder, "cdk.out"),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, "Sample");
  const table = new TableV2(stack, "Table", {
    partitionKey: { name: "pk", type: AttributeType.STRING },
    sortKey: { name: "sk", type: AttributeType.STRING },
    billing: Billing.onDemand(),
    timeToLiveAttribute: "ttl",
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
  table.addGlobalSecondaryIndex({
    indexName: "by-email",
    partitionKey: { name: "email", type: AttributeType.STRING },
  });
  const secret = new Secret(stack, "Secret");

  const defaults = { runtime: Runtime.NODEJS_22_X, handler: "index.handler", timeout: Duration.seconds(10) };
  const sample = new LambdaFunction(stack, "SampleFunction", {
    ...defaults,
    timeout: Duration.seconds(5),
    code: code("sample", sampleFunction),
    environment: { TABLE: table.tableName, TABLE_ARN: table.tableArn, SECRET: secret.secretArn, LIMIT: "10" },
  });
  new LambdaFunction(stack, "ReservedFunction", {
    ...defaults,
    code: code("reserved", sampleFunction),
    reservedConcurrentExecutions: 1,
  });
  const authorizing = new LambdaFunction(stack, "AuthorizerFunction", {
    ...defaults,
    timeout: Duration.seconds(5),
    code: code("authorizer", authorizerFunction),
  });

  const api = new RestApi(stack, "Api", {
    cloudWatchRole: false,
    binaryMediaTypes: ["*/*"],
    deployOptions: { stageName: "test" },
  });
  const authorizer = new TokenAuthorizer(stack, "Authorizer", {
    handler: authorizing,
    validationRegex: "^Bearer .+$",
    resultsCacheTtl: Duration.minutes(5),
  });
  const integration = new LambdaIntegration(sample, { allowTestInvoke: false });
  const things = api.root.addResource("things");
  things.addMethod("GET", integration);
  things.addMethod("POST", integration);
  things.addResource("special").addMethod("GET", integration);
  const thing = things.addResource("{id}");
  thing.addMethod("GET", integration);
  thing.addResource("parts").addResource("{part}").addMethod("GET", integration);
  api.root.addResource("guarded").addResource("{id}").addMethod("GET", integration, { authorizer });
  api.root
    .addResource("brief")
    .addMethod(
      "GET",
      new LambdaIntegration(sample, { allowTestInvoke: false, timeout: Duration.millis(100) }),
    );

  addStreaming(stack, api, code, sample);

  const correlator = { "x-correlator": "method.request.header.x-correlator" };
  api.addGatewayResponse("Unauthorized", {
    type: ResponseType.UNAUTHORIZED,
    responseHeaders: { ...correlator, "WWW-Authenticate": "'Bearer'" },
    templates: {
      "application/json": '{"code":"UNAUTHENTICATED"}',
    },
  });
  api.addGatewayResponse("NotFound", {
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    statusCode: "404",
    responseHeaders: correlator,
    templates: { "application/json": '{"code":"NOT_FOUND"}' },
  });
  api.addGatewayResponse("Default5xx", {
    type: ResponseType.DEFAULT_5XX,
    templates: { "application/json": '{"code":"INTERNAL"}' },
  });
  if (queues) addQueues(stack, code);
  if (schedule) {
    const source = "export const handler = async (event) => console.log(JSON.stringify(event));";
    const scheduled = new LambdaFunction(stack, "ScheduledFunction", {
      ...defaults,
      code: code("scheduled", source),
    });
    new Rule(stack, "EveryFiveMinutes", {
      schedule: Schedule.rate(Duration.minutes(5)),
      targets: [new LambdaTarget(scheduled)],
    });
  }
  app.synth();
}
