// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub uses the notation of template strings.
import { describe, expect, it } from "vitest";
import type { TemplateDocument } from "../../tools/local/assembly.ts";
import { Intrinsics } from "../../tools/local/intrinsics.ts";

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
  },
};
const intrinsics = new Intrinsics(document, "Stack");
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
