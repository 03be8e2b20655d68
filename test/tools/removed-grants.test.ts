import { expect, test } from "vitest";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
  readonly Effect?: "Allow" | "Deny";
}

/** A template with a role and what it may do. */
async function templateOf(
  name: string,
  statements: readonly Statement[],
  written = JSON.stringify,
): Promise<string> {
  const Policies = [{ PolicyName: "Rights", PolicyDocument: { Statement: allowing(statements) } }];
  return await writeTemplate(name, { Role: { Type: "AWS::IAM::Role", Properties: { Policies } } }, written);
}

function allowing(statements: readonly Statement[]): readonly Statement[] {
  return statements.map((one) => ({ Effect: "Allow", ...one }));
}

async function writeTemplate(name: string, Resources: object, written = JSON.stringify): Promise<string> {
  return await folder.write(`${name}.json`, written({ Resources }));
}

const table = { "Fn::GetAtt": ["Table", "Arn"] };
const before: readonly Statement[] = [
  { Action: ["dynamodb:GetItem", "dynamodb:Query"], Resource: table },
  { Action: "kms:Decrypt", Resource: "key", Condition: { StringEquals: { "kms:ViaService": "dynamodb" } } },
];

const compare = async (deployed: string, next: string) =>
  await runNcs(["removed-grants", deployed, "--template", next]);

test("ncs removed-grants exits with 0 when a release divides, joins or adds grants", async () => {
  const deployed = await templateOf("before", before);
  const next = await templateOf("divided", [
    { Action: "dynamodb:GetItem", Resource: [table, "other"] },
    { Action: "dynamodb:Query", Resource: table },
    ...before.slice(1),
  ]);
  expect(await compare(deployed, next)).toEqual({ code: 0, stdout: "No right is removed\n", stderr: "" });
});

test("ncs removed-grants exits with 1 and lists each action and condition that is gone", async () => {
  const deployed = await templateOf("before", before);
  const next = await templateOf("less", [
    { Action: ["dynamodb:GetItem"], Resource: table },
    { Action: "kms:Decrypt", Resource: "key", Condition: { StringEquals: { "kms:ViaService": "sqs" } } },
  ]);
  const { code, stdout, stderr } = await compare(deployed, next);
  expect(code).toBe(1);
  expect(stdout.trimEnd().split("\n")).toEqual([
    'Role  dynamodb:Query  {"Fn::GetAtt":["Table","Arn"]}',
    'Role  kms:Decrypt  "key"',
  ]);
  expect(stderr).toBe("2 rights are removed: keep them, and remove them in the next release\n");
});

test("ncs removed-grants ignores Deny statements and roles that are removed with their function", async () => {
  const deployed = await templateOf("refusing", [
    { ...before[0], Action: "*", Resource: "*", Effect: "Deny" },
  ]);
  expect((await compare(deployed, await templateOf("nothing", []))).code).toBe(0);

  const gone = await writeTemplate("gone", {});
  expect((await compare(await templateOf("before", before), gone)).code).toBe(0);
});
