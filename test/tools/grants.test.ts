import { expect, test } from "vitest";
import { removedGrants, templateSchema } from "../../tools/cli/grants.ts";

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
  readonly Effect?: "Allow" | "Deny";
}

/** A template with a role and what it may do. */
function templateOf(statements: readonly Statement[]) {
  const Statement = statements.map((one) => ({ Effect: "Allow", ...one }));
  const Policies = [{ PolicyName: "Rights", PolicyDocument: { Statement } }];
  return templateSchema.parse({ Resources: { Role: { Type: "AWS::IAM::Role", Properties: { Policies } } } });
}

const table = { "Fn::GetAtt": ["Table", "Arn"] };
const before: readonly Statement[] = [
  { Action: ["dynamodb:GetItem", "dynamodb:Query"], Resource: table },
  { Action: "kms:Decrypt", Resource: "key", Condition: { StringEquals: { "kms:ViaService": "dynamodb" } } },
];

test("a release that divides, joins or adds grants removes none", () => {
  const next = templateOf([
    { Action: "dynamodb:GetItem", Resource: [table, "other"] },
    { Action: "dynamodb:Query", Resource: table },
    ...before.slice(1),
  ]);
  expect(removedGrants(templateOf(before), next)).toEqual([]);
});

test("each action and condition that is gone is a removed grant of its role", () => {
  const next = templateOf([
    { Action: ["dynamodb:GetItem"], Resource: table },
    { Action: "kms:Decrypt", Resource: "key", Condition: { StringEquals: { "kms:ViaService": "sqs" } } },
  ]);
  expect(removedGrants(templateOf(before), next)).toMatchObject([
    { role: "Role", action: "dynamodb:Query", resource: '{"Fn::GetAtt":["Table","Arn"]}' },
    { role: "Role", action: "kms:Decrypt", resource: '"key"' },
  ]);
});

test("Deny statements, and roles that are removed with their function, are no removed grants", () => {
  const refusing = templateOf([{ Action: "*", Resource: "*", Effect: "Deny" }]);
  expect(removedGrants(refusing, templateOf([]))).toEqual([]);
  expect(removedGrants(templateOf(before), templateSchema.parse({ Resources: {} }))).toEqual([]);
});
