/**
 * What `Ref` and `Fn::GetAtt` of a resource give on this machine.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
 */
import { createHash } from "node:crypto";

/** The region every local ARN names. */
export const region = "eu-west-1";

/** The account every local ARN names. */
export const account = "000000000000";

/** What a deployed resource is called. */
export interface PhysicalNames {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Reads a property of the resource as text; undefined when the template does not set it. */
export type ReadProperty = (name: string) => string | undefined;

const rules: Readonly<Record<string, (logicalId: string, property: ReadProperty) => PhysicalNames>> = {
  "AWS::ApiGateway::Authorizer": (id) => ({ ref: id, attributes: { AuthorizerId: id } }),
  "AWS::ApiGateway::Deployment": (id) => ({ ref: id, attributes: { DeploymentId: id } }),
  "AWS::ApiGateway::Resource": (id) => ({ ref: id, attributes: { ResourceId: id } }),
  "AWS::ApiGateway::RestApi": (id) => {
    const ref = stableSuffix(id, 10);
    return { ref, attributes: { RestApiId: ref, RootResourceId: rootResourceId(ref) } };
  },
  "AWS::ApiGateway::Stage": (id, property) => ({ ref: property("StageName") ?? id, attributes: {} }),
  "AWS::DynamoDB::Table": (id, property) => {
    const ref = property("TableName") ?? id;
    return { ref, attributes: { Arn: arn("dynamodb", `table/${ref}`) } };
  },
  "AWS::Events::Rule": (id, property) => {
    const ref = property("Name") ?? id;
    return { ref, attributes: { Arn: arn("events", `rule/${ref}`) } };
  },
  "AWS::KMS::Alias": (id, property) => ({ ref: property("AliasName") ?? id, attributes: {} }),
  "AWS::KMS::Key": (id) => ({ ref: id, attributes: { Arn: arn("kms", `key/${id}`), KeyId: id } }),
  "AWS::Lambda::Alias": (_, property) => {
    const ref = `${functionArn(property("FunctionName") ?? "")}:${property("Name")}`;
    return { ref, attributes: { AliasArn: ref } };
  },
  "AWS::Lambda::EventSourceMapping": (id) => ({ ref: id, attributes: { Id: id } }),
  "AWS::Lambda::Function": (id, property) => {
    const ref = property("FunctionName") ?? id;
    return { ref, attributes: { Arn: functionArn(ref) } };
  },
  "AWS::Lambda::Version": (_, property) => {
    const ref = `${functionArn(property("FunctionName") ?? "")}:1`;
    return { ref, attributes: { FunctionArn: ref, Version: "1" } };
  },
  "AWS::Logs::LogGroup": (id, property) => {
    const ref = property("LogGroupName") ?? id;
    return { ref, attributes: { Arn: arn("logs", `log-group:${ref}:*`) } };
  },
  "AWS::SecretsManager::Secret": (id, property) => {
    const ref = arn("secretsmanager", `secret:${property("Name") ?? id}-${stableSuffix(id, 6)}`);
    return { ref, attributes: { Id: ref } };
  },
  "AWS::SQS::Queue": (id, property) => {
    const name = property("QueueName") ?? id;
    const ref = `https://sqs.${region}.amazonaws.com/${account}/${name}`;
    return { ref, attributes: { Arn: arn("sqs", name), QueueName: name } };
  },
};

/** Names of a resource, or undefined for a type that has no meaning on this machine. */
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

/** Part of an ARN that AWS chooses at random; here it is the same at every start. */
function stableSuffix(logicalId: string, length: number): string {
  const digest = BigInt(`0x${createHash("sha256").update(logicalId).digest("hex")}`);
  return digest.toString(36).slice(0, length);
}

function functionArn(nameOrArn: string): string {
  return nameOrArn.startsWith("arn:") ? nameOrArn : arn("lambda", `function:${nameOrArn}`);
}

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}
