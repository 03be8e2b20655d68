import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { densityImportStackName } from "../../infra/stack-names.ts";
import { circle, danglingReferences, duplicates, violationsOf } from "./resource-specification.ts";
import { configured, eachStage, parseOne, sharedFolder, type Template } from "./template.ts";

const densityImport = parseOne(
  readFileSync(join(sharedFolder("densityImport"), `${densityImportStackName}.template.json`), "utf8"),
);

const templates = [
  ...eachStage,
  ["configured", configured] as const,
  ["the import of densities", densityImport] as const,
];

describe.each(templates)("the template of %s", (_, template) => {
  test("has only resources and properties that CloudFormation knows, with values that it takes", () => {
    expect(violationsOf(template)).toEqual([]);
  });

  test("refers to nothing that does not exist", () => {
    expect(danglingReferences(template)).toEqual([]);
  });

  test("has no two resources with the same name, nor two methods for the same verb of a path", () => {
    expect(duplicates(template)).toEqual([]);
  });

  test("has no resources that wait for each other", () => {
    expect(circle(template)).toBeUndefined();
  });

  test("is within the limits of CloudFormation", () => {
    expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(500);
    expect(Object.keys(template.Outputs).length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(template).length).toBeLessThanOrEqual(1_000_000);
  });
});

describe("the check finds", () => {
  const made = (
    resources: Record<string, Partial<Template["Resources"][string]> & { Type: string }>,
  ): Template => ({
    Parameters: {},
    Outputs: {},
    Resources: Object.fromEntries(
      Object.entries(resources).map(([id, resource]) => [id, { Properties: {}, DependsOn: [], ...resource }]),
    ),
  });
  const queue = (properties: object) =>
    made({ Q: { Type: "AWS::SQS::Queue", Properties: { ...properties } } });

  test.each([
    ["an unknown type", made({ Q: { Type: "AWS::SQS::Line" } }), "Q: AWS::SQS::Line is no resource type"],
    ["an unknown property", queue({ Delay: 1 }), "Q (AWS::SQS::Queue): Delay is not a property"],
    ["a wrong type", queue({ DelaySeconds: "1" }), 'Q (AWS::SQS::Queue).DelaySeconds: "1" is not integer'],
    [
      "a missing property",
      made({ T: { Type: "AWS::DynamoDB::Table" } }),
      "T (AWS::DynamoDB::Table): KeySchema is missing",
    ],
    [
      "a value that is none of the allowed ones, deep inside",
      made({
        M: {
          Type: "AWS::ApiGateway::Method",
          Properties: {
            HttpMethod: "GET",
            ResourceId: "r",
            RestApiId: "a",
            Integration: { ConnectionType: "WIRE" },
          },
        },
      }),
      'M (AWS::ApiGateway::Method).Integration.ConnectionType: "WIRE" is none of INTERNET, VPC_LINK',
    ],
  ])("%s", (_, template, violation) => {
    expect(violationsOf(template)).toContain(violation);
  });

  test("references to nothing", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation fills it in.
    const name = { "Fn::Sub": "${P.Name}" };
    const template = made({
      Q: { Type: "AWS::SQS::Queue", Properties: { QueueName: name }, DependsOn: ["R"] },
      S: { Type: "AWS::SQS::Queue", Properties: { QueueName: { "Fn::GetAtt": ["Q", "Colour"] } } },
    });
    expect(danglingReferences(template)).toEqual([
      "Q depends on R",
      "Q refers to P.Name",
      "S refers to Q.Colour",
    ]);
  });

  test("an output of nothing", () => {
    const template = { ...made({}), Outputs: { O: { Value: { Ref: "R" } } } };
    expect(danglingReferences(template)).toEqual(["output O refers to R"]);
  });

  test("two resources with the same name", () => {
    const method = { Type: "AWS::ApiGateway::Method" };
    const on = (HttpMethod: string) => ({
      ...method,
      Properties: { RestApiId: "a", ResourceId: "r", HttpMethod },
    });
    expect(duplicates(made({ A: on("GET"), B: on("GET"), C: on("PUT") }))).toEqual(["B is A again"]);
  });

  test("a circle", () => {
    const template = made({
      A: { Type: "AWS::SQS::Queue", Properties: { QueueName: { Ref: "B" } } },
      B: { Type: "AWS::SQS::Queue", DependsOn: ["A"] },
    });
    expect(circle(template)).toEqual(["A", "B", "A"]);
  });
});
