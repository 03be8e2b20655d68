// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub uses the notation of template strings.
import { expect, test } from "vitest";
import * as z from "zod";
import type { TemplateDocument } from "../../tools/local/template/assembly.ts";
import { Intrinsics } from "../../tools/local/template/intrinsics.ts";
import { methodSettingSchema, throttlingOf } from "../../tools/local/template/method-settings.ts";
import { Template } from "../../tools/local/template/template.ts";
import { emptyApi } from "./empty-api.ts";

const document: TemplateDocument = {
  Resources: {
    Table: { Type: "AWS::DynamoDB::GlobalTable", Properties: {} },
    Run: { Type: "AWS::Lambda::Function", Properties: {} },
    Live: { Type: "AWS::Lambda::Alias", Properties: { FunctionName: { Ref: "Run" }, Name: "live" } },
    Bucket: { Type: "AWS::S3::Bucket", Properties: {} },
    Jobs: { Type: "AWS::SQS::Queue", Properties: {} },
    Created: { Type: "AWS::SQS::Queue", Properties: {} },
  },
};
const intrinsics = new Intrinsics(document, new Map([["Created", "http://here/made"]]));
const resolve = (expression: unknown) => intrinsics.resolve(expression, "here");

test.each([
  [{ Ref: "AWS::Region" }, "eu-west-1"],
  [{ Ref: "Table" }, "Table"],
  [{ "Fn::GetAtt": ["Table", "Arn"] }, "arn:aws:dynamodb:eu-west-1:000000000000:table/Table"],
  [{ "Fn::GetAtt": ["Run", "Arn"] }, "arn:aws:lambda:eu-west-1:000000000000:function:Run"],
  [{ Ref: "Live" }, "arn:aws:lambda:eu-west-1:000000000000:function:Run:live"],
  [{ Ref: "Jobs" }, "https://sqs.eu-west-1.amazonaws.com/000000000000/Jobs"],
  [{ Ref: "Created" }, "http://here/made"],
  [{ "Fn::GetAtt": ["Created", "Arn"] }, "arn:aws:sqs:eu-west-1:000000000000:Created"],
  [{ "Fn::Join": ["-", ["a", { Ref: "AWS::Partition" }]] }, "a-aws"],
  [{ "Fn::Select": ["1", { "Fn::Split": [":", "a:b:c"] }] }, "b"],
  [{ "Fn::Sub": "assets-${AWS::AccountId}-${Table}" }, "assets-000000000000-Table"],
  [
    { a: [1, { Ref: "Table" }], b: true },
    { a: [1, "Table"], b: true },
  ],
])("npm start reads %j of a template as its value", (expression, value) => {
  expect(resolve(expression)).toEqual(value);
});

const all = { HttpMethod: "*", ResourcePath: "/*", ThrottlingRateLimit: "100", ThrottlingBurstLimit: 50 };
const own = { ...all, HttpMethod: "GET", ResourcePath: "/~1a~1{id}", ThrottlingRateLimit: 2 };
const settings = z.array(methodSettingSchema).parse([all, own]);

test("the local gateway throttles by the setting of all methods unless the method has its own", () => {
  expect(throttlingOf(settings, "GET", "/a/{id}")).toEqual({ rate: 2, burst: 50 });
  for (const [verb, path] of [
    ["POST", "/a/{id}"],
    ["GET", "/a"],
    ["GET", "/"],
  ] as const) {
    expect(throttlingOf(settings, verb, path)).toEqual({ rate: 100, burst: 50 });
  }
  expect(throttlingOf([], "GET", "/a")).toBeUndefined();
});

const arn = (name: string) => `arn:aws:sqs:eu-west-1:000000000000:${name}`;

/** A template with a queue, a function with a time-out of 10 s and a mapping between them, changed as said. */
function templateOf(
  queue: Record<string, unknown>,
  mapping: Record<string, unknown> = {},
  others: Record<string, [type: string, properties: Record<string, unknown>]> = {},
): Template {
  const resources: Record<string, [type: string, properties: Record<string, unknown>]> = {
    Run: ["AWS::Lambda::Function", { Code: { S3Key: "run.zip" }, Handler: "index.handler", Timeout: 10 }],
    Live: ["AWS::Lambda::Alias", { FunctionName: { Ref: "Run" }, Name: "live" }],
    Dead: ["AWS::SQS::Queue", {}],
    Jobs: ["AWS::SQS::Queue", queue],
    JobsPolicy: ["AWS::SQS::QueuePolicy", { Queues: [{ Ref: "Jobs" }] }],
    Alarm: ["AWS::CloudWatch::Alarm", { AlarmActions: [{ Ref: "Topic" }] }],
    Mapping: [
      "AWS::Lambda::EventSourceMapping",
      {
        BatchSize: 1,
        EventSourceArn: { "Fn::GetAtt": ["Jobs", "Arn"] },
        FunctionName: { Ref: "Run" },
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: 10 },
        ...mapping,
      },
    ],
    ...others,
  };
  const Resources = Object.fromEntries(
    Object.entries(resources).map(([id, [Type, Properties]]) => [id, { Type, Properties }]),
  );
  return new Template({
    document: { Resources: { ...emptyApi, ...Resources } },
    assetDirectories: new Map([["run.zip", "/assets/run"]]),
  });
}

test("npm start reads queues with the template's settings or the defaults of AWS", () => {
  const redrive = { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 3 };
  const declared = { VisibilityTimeout: "60", MessageRetentionPeriod: 100, KmsMasterKeyId: { Ref: "Key" } };
  const { queues, eventSources } = templateOf({ ...declared, RedrivePolicy: redrive });
  expect(queues).toMatchObject([
    { name: "Dead", attributes: { VisibilityTimeout: "30" }, redrive: undefined },
    {
      name: "Jobs",
      arn: arn("Jobs"),
      visibilitySeconds: 60,
      attributes: { VisibilityTimeout: "60", MessageRetentionPeriod: "100" },
      redrive: { deadLetterLogicalId: "Dead", maxReceiveCount: 3 },
    },
  ]);
  expect(eventSources).toEqual([
    {
      logicalId: "Mapping",
      queueLogicalId: "Jobs",
      functionLogicalId: "Run",
      concurrency: 10,
    },
  ]);
});

test.each([
  ["FifoQueue is not supported locally, at Jobs", { FifoQueue: true }, {}],
  [
    "Jobs redrives to arn:none, which is not a queue of the template",
    { RedrivePolicy: { deadLetterTargetArn: "arn:none", maxReceiveCount: 1 } },
    {},
  ],
  ["Mapping reads arn:none, which is not a queue of the template", {}, { EventSourceArn: "arn:none" }],
  ["Mapping calls none, which is not a function of the template", {}, { FunctionName: "none" }],
  [
    "Queue visibility timeout: 9 seconds is less than Function timeout: 10 seconds",
    { VisibilityTimeout: 9 },
    {},
  ],
  ["only batches of one message are supported locally", {}, { BatchSize: 10 }],
  ["MaximumConcurrency", {}, { ScalingConfig: { MaximumConcurrency: 1 } }],
  ["FilterCriteria is not supported locally, at Mapping", {}, { FilterCriteria: { Filters: [] } }],
])("npm start refuses a queue or mapping that does not run locally: %s", (message, queue, mapping) => {
  expect(() => templateOf(queue, mapping)).toThrow(message);
});

const uri = {
  "Fn::Sub": "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/${Live}/invocations",
};
const role = { "Fn::GetAtt": ["Role", "Arn"] };
const method = (Credentials: unknown) => ({
  HttpMethod: "GET",
  AuthorizationType: "NONE",
  ResourceId: { "Fn::GetAtt": ["Api", "RootResourceId"] },
  Integration: { Type: "AWS_PROXY", Uri: uri, Credentials },
});
const authorizer = (AuthorizerCredentials: unknown) => ({
  Type: "TOKEN",
  AuthorizerUri: uri,
  AuthorizerCredentials,
  IdentitySource: "method.request.header.Authorization",
  IdentityValidationExpression: "^.+$",
  AuthorizerResultTtlInSeconds: 60,
});

/** A template with a caller that invokes an alias by a role with rights to `Resource`. */
function templateWithRole(type: string, caller: Record<string, unknown>, Resource: unknown): Template {
  const rights = { Statement: [{ Effect: "Allow", Action: "lambda:InvokeFunction", Resource }] };
  const Policies = [{ PolicyName: "Rights", PolicyDocument: rights }];
  return templateOf({}, {}, { Role: ["AWS::IAM::Role", { Policies }], Caller: [type, caller] });
}

test.each([
  ["AWS::ApiGateway::Method", method],
  ["AWS::ApiGateway::Authorizer", authorizer],
])("npm start refuses an %s unless its role may invoke the alias that it calls", (type, callerBy) => {
  const { api } = templateWithRole(type, callerBy(role), { Ref: "Live" });
  expect([...api.routes, ...api.authorizers]).toHaveLength(1);

  expect(() => templateWithRole(type, callerBy(role), { "Fn::GetAtt": ["Run", "Arn"] })).toThrow(
    "Caller calls arn:aws:lambda:eu-west-1:000000000000:function:Run:live, which the policies of Role do not allow",
  );
  expect(() => templateWithRole(type, callerBy("arn:none"), { Ref: "Live" })).toThrow(
    "Caller assumes arn:none, which is not a role of the template",
  );
});
