// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub uses the notation of template strings.
import { expect, test } from "vitest";
import { Template } from "../../tools/local/template/template.ts";
import { emptyApi } from "./empty-api.ts";

/** A template with a queue, a function with a time-out of 10 s and a mapping between them, changed as said. */
function templateOf(
  queue: Record<string, unknown>,
  mapping: Record<string, unknown> = {},
  others: Record<string, [type: string, properties: Record<string, unknown>]> = {},
  deadlineFactor?: number,
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
  const assetDirectories = new Map([["run.zip", "/assets/run"]]);
  return new Template(
    { document: { Resources: { ...emptyApi, ...Resources } }, assetDirectories },
    deadlineFactor,
  );
}

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

test("on a busy machine a function of the API has more time, and one that consumes a queue the time of its messages", () => {
  const answer = { Code: { S3Key: "run.zip" }, Handler: "index.handler", Timeout: 10 };
  const { functions } = templateOf({}, {}, { Answer: ["AWS::Lambda::Function", answer] }, 4);
  expect(functions.map(({ logicalId, timeoutSeconds }) => [logicalId, timeoutSeconds])).toEqual([
    ["Run", 10],
    ["Answer", 40],
  ]);
});
