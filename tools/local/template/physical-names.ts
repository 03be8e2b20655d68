/**
 * The local values of `Ref` and `Fn::GetAtt`.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
 */
import { createHash } from "node:crypto";

/** The region in local ARNs. */
export const region = "eu-west-1";

/** The account in local ARNs. */
export const account = "000000000000";

/** The names of a deployed resource. */
export interface PhysicalNames {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Reads a property of the resource as text. If it is missing, returns `otherwise`, or throws. */
export type ReadProperty = (name: string, otherwise?: string) => string;

/** Resources are named by their logical ids, except tables that the template names. */
const rules: Readonly<Record<string, (logicalId: string, property: ReadProperty) => PhysicalNames>> = {
  "AWS::ApiGateway::Authorizer": (id) => ({ ref: id, attributes: {} }),
  "AWS::ApiGateway::Resource": (id) => ({ ref: id, attributes: {} }),
  "AWS::ApiGateway::RestApi": (id) => {
    const ref = stableSuffix(id, 10);
    return { ref, attributes: { RootResourceId: rootResourceId(ref) } };
  },
  "AWS::DynamoDB::GlobalTable": (id, property) => {
    const ref = property("TableName", id);
    return { ref, attributes: { Arn: arn("dynamodb", `table/${ref}`) } };
  },
  "AWS::Events::Rule": (id) => ({ ref: id, attributes: { Arn: arn("events", `rule/${id}`) } }),
  "AWS::IAM::Role": (id) => ({ ref: id, attributes: { Arn: `arn:aws:iam::${account}:role/${id}` } }),
  "AWS::Lambda::Alias": (_, property) => ({
    ref: arn("lambda", `function:${property("FunctionName")}:${property("Name")}`),
    attributes: {},
  }),
  "AWS::Lambda::Function": (id) => ({ ref: id, attributes: { Arn: arn("lambda", `function:${id}`) } }),
  "AWS::SecretsManager::Secret": (id) => ({
    ref: arn("secretsmanager", `secret:${id}-${stableSuffix(id, 6)}`),
    attributes: {},
  }),
  "AWS::SQS::Queue": (id) => ({
    ref: `https://sqs.${region}.amazonaws.com/${account}/${id}`,
    attributes: { Arn: arn("sqs", id) },
  }),
};

/** The names of a resource; undefined for a type that does not exist on this machine. */
export function physicalNames(
  type: string,
  logicalId: string,
  property: ReadProperty,
): PhysicalNames | undefined {
  return rules[type]?.(logicalId, property);
}

/** The parent of an API's first path segments. */
export function rootResourceId(restApiId: string): string {
  return `${restApiId}-root`;
}

/** Stands for a part that AWS chooses at random; it is the same at every start. */
function stableSuffix(logicalId: string, length: number): string {
  const digest = BigInt(`0x${createHash("sha256").update(logicalId).digest("hex")}`);
  return digest.toString(36).slice(0, length);
}

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}
