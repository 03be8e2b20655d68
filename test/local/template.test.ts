// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub uses the notation of template strings.
import { describe, expect, it } from "vitest";
import type { TemplateDocument } from "../../tools/local/template/assembly.ts";
import { Intrinsics } from "../../tools/local/template/intrinsics.ts";
import { Template } from "../../tools/local/template/template.ts";

const document: TemplateDocument = {
  Parameters: {
    Stage: { Type: "String", Default: "dev" },
    Names: { Type: "CommaDelimitedList", Default: "a,b" },
    BootstrapVersion: { Type: "AWS::SSM::Parameter::Value<String>", Default: "/cdk-bootstrap/version" },
  },
  Conditions: {
    IsDev: { "Fn::Equals": [{ Ref: "Stage" }, "dev"] },
    IsLive: { "Fn::Not": [{ Condition: "IsDev" }] },
    Either: { "Fn::Or": [{ Condition: "IsDev" }, { Condition: "IsLive" }] },
    Both: { "Fn::And": [{ Condition: "IsDev" }, { Condition: "IsLive" }] },
  },
  Resources: {
    Table: { Type: "AWS::DynamoDB::Table", Properties: {} },
    Named: { Type: "AWS::DynamoDB::Table", Properties: { TableName: { "Fn::Sub": "${Stage}-things" } } },
    Run: { Type: "AWS::Lambda::Function", Properties: {} },
    Live: { Type: "AWS::Lambda::Alias", Properties: { FunctionName: { Ref: "Run" }, Name: "live" } },
    Bucket: { Type: "AWS::S3::Bucket", Properties: {} },
    Key: { Type: "AWS::KMS::Key", Properties: {} },
    KeyName: { Type: "AWS::KMS::Alias", Properties: { AliasName: "alias/mine" } },
    Jobs: { Type: "AWS::SQS::Queue", Properties: {} },
    Created: { Type: "AWS::SQS::Queue", Properties: { QueueName: "made" } },
  },
};
const intrinsics = new Intrinsics(document, "Stack", new Map([["Created", "http://here/made"]]));
const resolve = (expression: unknown) => intrinsics.resolve(expression, "here");

describe("intrinsic functions", () => {
  it.each([
    [{ Ref: "AWS::Region" }, "eu-west-1"],
    [{ Ref: "Stage" }, "dev"],
    [{ Ref: "Names" }, ["a", "b"]],
    [{ Ref: "Table" }, "Table"],
    [{ Ref: "Named" }, "dev-things"],
    [{ "Fn::GetAtt": ["Table", "Arn"] }, "arn:aws:dynamodb:eu-west-1:000000000000:table/Table"],
    [{ "Fn::GetAtt": "Run.Arn" }, "arn:aws:lambda:eu-west-1:000000000000:function:Run"],
    [{ Ref: "Live" }, "arn:aws:lambda:eu-west-1:000000000000:function:Run:live"],
    [{ Ref: "Jobs" }, "https://sqs.eu-west-1.amazonaws.com/000000000000/Jobs"],
    [{ Ref: "Created" }, "http://here/made"],
    [{ "Fn::GetAtt": ["Created", "Arn"] }, "arn:aws:sqs:eu-west-1:000000000000:made"],
    [{ "Fn::GetAtt": ["Created", "QueueName"] }, "made"],
    [{ Ref: "Key" }, "Key"],
    [{ "Fn::GetAtt": ["Key", "Arn"] }, "arn:aws:kms:eu-west-1:000000000000:key/Key"],
    [{ Ref: "KeyName" }, "alias/mine"],
    [{ "Fn::Join": ["-", ["a", { Ref: "AWS::Partition" }]] }, "a-aws"],
    [{ "Fn::Join": ["-", { Ref: "Names" }] }, "a-b"],
    [{ "Fn::Select": ["1", { "Fn::Split": [":", "a:b:c"] }] }, "b"],
    [
      { "Fn::Sub": "${Table}/${Table.Arn}/${AWS::URLSuffix}/${!Kept}" },
      expect.stringMatching(/^Table\/arn:.*\/Table\/amazonaws\.com\/\$\{Kept\}$/),
    ],
    [{ "Fn::Sub": ["${x}-${Stage}", { x: { Ref: "Names" } }] }, undefined],
    [{ "Fn::Sub": ["${x}-${Stage}", { x: { Ref: "Table" } }] }, "Table-dev"],
    [{ "Fn::If": ["IsLive", "live", "dev"] }, "dev"],
    [{ "Fn::If": ["Either", { "Fn::If": ["Both", 1, 2] }, 3] }, 2],
    [{ a: { Ref: "AWS::NoValue" }, b: [1, { Ref: "AWS::NoValue" }] }, { b: [1] }],
    [{ Condition: { StringEquals: { a: "b" } } }, { Condition: { StringEquals: { a: "b" } } }],
  ])("%j", (expression, value) => {
    if (value === undefined) expect(() => resolve(expression)).toThrow("Expected text at here");
    else expect(resolve(expression)).toEqual(value);
  });

  it.each([
    [{ "Fn::ImportValue": "x" }, "Fn::ImportValue is not supported locally, at here"],
    [{ a: [{ "Fn::Cidr": [] }] }, "Fn::Cidr is not supported locally, at here.a[0]"],
    [{ Ref: "Missing" }, "The template has no resource Missing, at here"],
    [{ Ref: "Bucket" }, "Bucket (AWS::S3::Bucket) does not exist locally but is used at here"],
    [{ Ref: "BootstrapVersion" }, "Parameter BootstrapVersion has no local value, at here"],
    [{ "Fn::GetAtt": ["Table", "StreamArn"] }, "Fn::GetAtt Table.StreamArn has no local value, at here"],
    ["{{resolve:ssm:/a}}", "A dynamic reference cannot be resolved locally, at here"],
    [{ "Fn::Select": [5, ["a"]] }, "Fn::Select has no element 5 at here"],
  ])("%j is refused", (expression, message) => {
    expect(() => resolve(expression)).toThrow(message);
  });
});

describe("queues and their consumers", () => {
  const arn = (name: string) => `arn:aws:sqs:eu-west-1:000000000000:${name}`;

  /** A template with a queue, a function of 10 s, and a mapping between them, with these properties on top. */
  function templateOf(queue: Record<string, unknown>, mapping: Record<string, unknown> = {}): Template {
    const resources: Record<string, [type: string, properties: Record<string, unknown>]> = {
      Api: ["AWS::ApiGateway::RestApi", {}],
      Run: ["AWS::Lambda::Function", { Code: { S3Key: "run.zip" }, Handler: "index.handler", Timeout: 10 }],
      Live: ["AWS::Lambda::Alias", { FunctionName: { Ref: "Run" }, Name: "live" }],
      Version: ["AWS::Lambda::Version", { FunctionName: { Ref: "Run" } }],
      Dead: ["AWS::SQS::Queue", {}],
      Jobs: ["AWS::SQS::Queue", queue],
      JobsPolicy: ["AWS::SQS::QueuePolicy", { Queues: [{ Ref: "Jobs" }] }],
      Alarm: ["AWS::CloudWatch::Alarm", { AlarmActions: [{ Ref: "Topic" }] }],
      Mapping: [
        "AWS::Lambda::EventSourceMapping",
        { EventSourceArn: { "Fn::GetAtt": ["Jobs", "Arn"] }, FunctionName: { Ref: "Run" }, ...mapping },
      ],
    };
    const Resources = Object.fromEntries(
      Object.entries(resources).map(([id, [Type, Properties]]) => [id, { Type, Properties }]),
    );
    return new Template({
      stackName: "Stack",
      document: { Parameters: {}, Conditions: {}, Resources },
      assetDirectories: new Map([["run.zip", "/assets/run"]]),
    });
  }

  it("have the settings of the template, or the defaults of AWS", () => {
    const redrive = { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 3 };
    const declared = {
      QueueName: "jobs",
      VisibilityTimeout: "60",
      DelaySeconds: 5,
      SqsManagedSseEnabled: true,
    };
    const { queues, eventSources } = templateOf({ ...declared, RedrivePolicy: redrive });
    expect(queues).toMatchObject([
      { name: "Dead", attributes: { VisibilityTimeout: "30" }, redrive: undefined },
      {
        name: "jobs",
        arn: arn("jobs"),
        visibilitySeconds: 60,
        attributes: { VisibilityTimeout: "60", DelaySeconds: "5" },
        redrive: { deadLetterLogicalId: "Dead", maxReceiveCount: 3 },
      },
    ]);
    expect(eventSources).toEqual([
      {
        logicalId: "Mapping",
        queueLogicalId: "Jobs",
        functionLogicalId: "Run",
        batchSize: 10,
        windowSeconds: 0,
        concurrency: 5,
        reportsItemFailures: false,
      },
    ]);
  });

  it("are consumed as the mapping says, by at most five batches at a time", () => {
    const mapping = {
      BatchSize: 100,
      MaximumBatchingWindowInSeconds: 2,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: { MaximumConcurrency: 50 },
    };
    expect(templateOf({}, mapping).eventSources).toMatchObject([
      { batchSize: 100, windowSeconds: 2, concurrency: 5, reportsItemFailures: true },
    ]);
    expect(templateOf({}, { ScalingConfig: { MaximumConcurrency: 2 } }).eventSources).toMatchObject([
      { concurrency: 2 },
    ]);
    expect(templateOf({}, { Enabled: false }).eventSources).toEqual([]);
  });

  it.each([
    ["Run"],
    ["Run:live"],
    ["000000000000:function:Run"],
    ["000000000000:function:Run:live"],
    [{ "Fn::GetAtt": ["Run", "Arn"] }],
    [{ Ref: "Live" }],
    [{ Ref: "Version" }],
  ])("name their function as %j", (FunctionName) => {
    expect(templateOf({}, { FunctionName }).eventSources).toMatchObject([{ functionLogicalId: "Run" }]);
  });

  it.each([
    ["FIFO queues are not served locally", { FifoQueue: true }, {}],
    [
      "Jobs redrives to arn:none, which is no queue of the template",
      { RedrivePolicy: { deadLetterTargetArn: "arn:none", maxReceiveCount: 1 } },
      {},
    ],
    ["Mapping reads arn:none, which is no queue of the template", {}, { EventSourceArn: "arn:none" }],
    ["Mapping calls none, which is no function of the template", {}, { FunctionName: "none" }],
    [
      "Queue visibility timeout: 9 seconds is less than Function timeout: 10 seconds",
      { VisibilityTimeout: 9 },
      {},
    ],
    ["MaximumBatchingWindowInSeconds of at least 1", {}, { BatchSize: 11 }],
    ["MaximumConcurrency", {}, { ScalingConfig: { MaximumConcurrency: 1 } }],
    ["Filters are not served locally", {}, { FilterCriteria: { Filters: [] } }],
  ])("are refused: %s", (message, queue, mapping) => {
    expect(() => templateOf(queue, mapping)).toThrow(message);
  });
});
