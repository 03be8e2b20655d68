import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import * as z from "zod";
import type { FunctionId } from "../../infra/access.ts";
import { networkCapabilities, stackName } from "../../infra/app.ts";
import { constructName } from "../../infra/bundles.ts";
import type { TableName } from "../../shared/tables.ts";
import { tableVariable } from "../../shared/tables.ts";

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DependsOn: z.union([z.string().transform((id) => [id]), z.array(z.string())]).default([]),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});

const document = z.object({
  Parameters: z.record(z.string(), z.unknown()).default({}),
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
});

/** A template as CloudFormation gets it: names are logical ids, values may be intrinsic functions. */
type Template = z.output<typeof document>;

/** Synthesizes the stack as `cdk` would, with what stands behind `-c` on its command line. */
export function synthesize(context: Readonly<Record<string, unknown>> = {}): Template {
  const folder = mkdtempSync(join(tmpdir(), "network-capabilities-template-"));
  const before = process.env.CDK_CONTEXT_JSON;
  try {
    process.env.CDK_CONTEXT_JSON = JSON.stringify(context);
    networkCapabilities({ outdir: folder, bundles: inject("bundles"), validation: false }).synth();
    return readTemplate(folder);
  } finally {
    if (before === undefined) delete process.env.CDK_CONTEXT_JSON;
    else process.env.CDK_CONTEXT_JSON = before;
    rmSync(folder, { recursive: true, force: true });
  }
}

function readTemplate(assembly: string): Template {
  return document.parse(JSON.parse(readFileSync(join(assembly, `${stackName}.template.json`), "utf8")));
}

/** The template of the stack that all tests run. */
export const template = readTemplate(inject("assembly"));

/** A resource with its properties parsed. */
interface Found<Properties> {
  readonly logicalId: string;
  readonly properties: Properties;
  readonly dependsOn: readonly string[];
  readonly deletionPolicy: string | undefined;
  readonly updateReplacePolicy: string | undefined;
}

/** Every resource of a type. */
export function resourcesOf<Schema extends z.ZodType>(
  type: string,
  schema: Schema,
  { Resources }: Template = template,
): Found<z.output<Schema>>[] {
  return Object.entries(Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([logicalId, { Properties, DependsOn, DeletionPolicy, UpdateReplacePolicy }]) => ({
      logicalId,
      properties: schema.parse(Properties),
      dependsOn: DependsOn,
      deletionPolicy: DeletionPolicy,
      updateReplacePolicy: UpdateReplacePolicy,
    }));
}

/** The only element of a list. */
export function only<Element>(elements: readonly Element[], what: string): Element {
  const [element] = elements;
  if (element === undefined || elements.length > 1) throw new Error(`${elements.length} of ${what}, not one`);
  return element;
}

/** The resource of a construct directly below the stack: CDK appends eight digits to the construct's name. */
function logicalIdOf(type: string, construct: string): string {
  const pattern = new RegExp(`^${construct}[0-9A-F]{8}$`);
  const found = Object.entries(template.Resources).filter(
    ([logicalId, { Type }]) => Type === type && pattern.test(logicalId),
  );
  return only(found, `${type} ${construct}`)[0];
}

/** The logical id of a function. */
export function functionOf(id: FunctionId): string {
  return logicalIdOf("AWS::Lambda::Function", constructName(id));
}

/** The logical id of a table. */
export function tableOf(name: TableName): string {
  return logicalIdOf("AWS::DynamoDB::Table", tableVariable(name).replaceAll("_", ""));
}

/** `{"Ref": …}`. */
export const reference = z.strictObject({ Ref: z.string() });

/** `{"Fn::GetAtt": [resource, attribute]}`. */
export const attribute = z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) });

/** The ARN of a resource as the template writes it. */
export function arnOf(logicalId: string): z.output<typeof attribute> {
  return { "Fn::GetAtt": [logicalId, "Arn"] };
}

const joinedText = z.strictObject({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) });

/** A joined text in one line, with `${LogicalId}` and `${LogicalId.Attribute}` for what is known when deployed. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const referred = reference.safeParse(value);
  if (referred.success) return `\${${referred.data.Ref}}`;
  const got = attribute.safeParse(value);
  if (got.success) return `\${${got.data["Fn::GetAtt"].join(".")}}`;
  const joined = joinedText.safeParse(value);
  if (joined.success) return joined.data["Fn::Join"][1].map(textOf).join("");
  return JSON.stringify(value);
}
