import { describe, expect, test } from "vitest";
import * as z from "zod";
import { access, type FunctionId } from "../../infra/access.ts";
import { functionIds } from "../../infra/bundles.ts";
import { configuration, type VariableName } from "../../shared/environment.ts";
import { type TableName, tableVariable } from "../../shared/tables.ts";
import {
  arnOf,
  attribute,
  functionOf,
  only,
  reference,
  resourcesOf,
  tableOf,
  template,
  textOf,
} from "./template.ts";

const functionProperties = z.object({
  Architectures: z.array(z.string()),
  Code: z.object({ S3Key: z.string() }),
  Description: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  Handler: z.string(),
  LoggingConfig: z.object({ LogGroup: reference }),
  MemorySize: z.number(),
  Role: attribute,
  Runtime: z.string(),
  Timeout: z.number(),
});

const logGroupProperties = z.object({ RetentionInDays: z.number() });

const oneOrMore = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([z.array(schema), schema.transform((one) => [one])]);

const statement = z.strictObject({
  Effect: z.literal("Allow"),
  Action: oneOrMore(z.string()),
  Resource: oneOrMore(z.unknown()),
});

const policyProperties = z.object({
  PolicyDocument: z.object({ Statement: z.array(statement) }),
  Roles: z.array(reference),
});

const roleProperties = z.object({
  AssumeRolePolicyDocument: z.object({
    Statement: z.tuple([
      z.strictObject({
        Effect: z.literal("Allow"),
        Action: z.literal("sts:AssumeRole"),
        Principal: z.strictObject({ Service: z.string() }),
      }),
    ]),
  }),
  ManagedPolicyArns: z.unknown().optional(),
  Policies: z.unknown().optional(),
});

/** AWS's limit for the environment of one function, names and values together. */
const environmentBytes = 4 * 1024;

describe("functions", () => {
  const functions = resourcesOf("AWS::Lambda::Function", functionProperties);
  const secret = only(resourcesOf("AWS::SecretsManager::Secret", z.unknown()), "secrets");
  const propertiesOf = (id: FunctionId) =>
    only(
      functions.filter(({ logicalId }) => logicalId === functionOf(id)),
      id,
    ).properties;

  test("there is one function for each line of `access`, and no other", () => {
    expect(functions.map(({ logicalId }) => logicalId).sort()).toEqual(
      functionIds.map((id) => functionOf(id)).sort(),
    );
  });

  test("each function has a bundle, a role and a log group of its own", () => {
    for (const part of [
      functions.map(({ properties }) => properties.Code.S3Key),
      functions.map(({ properties }) => properties.Role["Fn::GetAtt"][0]),
      functions.map(({ properties }) => properties.LoggingConfig.LogGroup.Ref),
    ]) {
      expect(new Set(part).size).toBe(functions.length);
    }
  });

  describe.each(functionIds)("%s", (id) => {
    const properties = propertiesOf(id);
    const { tables: granted = {}, signingKey = [], variables = [] } = access[id];
    const tableNames = Object.keys(granted) as TableName[];

    test("runs on the newest runtime, with a time-out and memory that were chosen", () => {
      expect(properties.Architectures).toEqual(["arm64"]);
      expect(properties.Runtime).toBe("nodejs24.x");
      expect(properties.Handler).toBe("index.handler");
      expect(properties.Description).toBe(id);
      // API Gateway waits 29 seconds for an answer; what it does not wait for gets no more than 30.
      expect(properties.Timeout).toBeGreaterThan(5);
      expect(properties.Timeout).toBeLessThanOrEqual(30);
      expect(properties.MemorySize).toBeGreaterThanOrEqual(256);
    });

    test("logs into a group of its own that forgets", () => {
      const group = only(
        resourcesOf("AWS::Logs::LogGroup", logGroupProperties).filter(
          ({ logicalId }) => logicalId === properties.LoggingConfig.LogGroup.Ref,
        ),
        "log groups",
      );
      expect(group.properties.RetentionInDays).toBeGreaterThanOrEqual(1);
      expect(group.properties.RetentionInDays).toBeLessThanOrEqual(90);
    });

    test("may do what `access` says, and write its log", () => {
      const role = only(
        resourcesOf("AWS::IAM::Role", roleProperties).filter(
          ({ logicalId }) => logicalId === properties.Role["Fn::GetAtt"][0],
        ),
        "roles",
      );
      expect(role.properties.AssumeRolePolicyDocument.Statement[0].Principal.Service).toBe(
        "lambda.amazonaws.com",
      );
      expect(role.properties.ManagedPolicyArns).toBeUndefined();
      expect(role.properties.Policies).toBeUndefined();

      const policies = resourcesOf("AWS::IAM::Policy", policyProperties).filter(({ properties: policy }) =>
        policy.Roles.some(({ Ref }) => Ref === role.logicalId),
      );
      const rights = policies
        .flatMap((policy) => policy.properties.PolicyDocument.Statement)
        .flatMap(({ Action, Resource }) =>
          Action.flatMap((action) => Resource.map((resource) => `${action} ${JSON.stringify(resource)}`)),
        );
      const logGroup = JSON.stringify({ "Fn::GetAtt": [properties.LoggingConfig.LogGroup.Ref, "Arn"] });
      const wanted = [
        ...["CreateLogStream", "PutLogEvents"].map((action) => `logs:${action} ${logGroup}`),
        ...tableNames.flatMap((name) =>
          (granted[name] ?? []).map((action) => `dynamodb:${action} ${JSON.stringify(arnOf(tableOf(name)))}`),
        ),
        ...signingKey.map(
          (action) => `secretsmanager:${action} ${JSON.stringify({ Ref: secret.logicalId })}`,
        ),
      ];
      expect(rights.sort()).toEqual(wanted.sort());
    });

    test("is told the tables it may touch, the variables of its line and the log level, and nothing else", () => {
      const valueFor = (name: VariableName): unknown => {
        if (name === "SIGNING_KEY_SECRET_ARN") return { Ref: secret.logicalId };
        if (name === "ROUTES_BY_SCOPE") return expect.any(String);
        return configuration[name].default;
      };
      expect(properties.Environment.Variables).toEqual({
        LOG_LEVEL: configuration.LOG_LEVEL.default,
        ...Object.fromEntries(tableNames.map((name) => [tableVariable(name), { Ref: tableOf(name) }])),
        ...Object.fromEntries(variables.map((name) => [name, valueFor(name)])),
      });
    });

    test("has an environment within AWS's limit", () => {
      // A table's name or an ARN is longer than what stands for it here.
      const size = Object.entries(properties.Environment.Variables)
        .map(([name, value]) => name.length + (typeof value === "string" ? Buffer.byteLength(value) : 256))
        .reduce((sum, bytes) => sum + bytes, 0);
      expect(size).toBeLessThan(environmentBytes);
    });
  });

  test("no policy has a wildcard, reads a whole table or belongs to no function", () => {
    const policies = resourcesOf("AWS::IAM::Policy", policyProperties);
    const statements = policies.flatMap(({ properties }) => properties.PolicyDocument.Statement);
    expect(statements.length).toBeGreaterThanOrEqual(functionIds.length);
    for (const { Action, Resource } of statements) {
      expect(Action.filter((action) => /\*|Scan$/.test(action))).toEqual([]);
      expect(Resource.map(textOf).filter((resource) => resource.includes("*"))).toEqual([]);
    }
    const roles = new Set(functions.map(({ properties }) => properties.Role["Fn::GetAtt"][0]));
    expect(
      resourcesOf("AWS::IAM::Role", roleProperties).filter(({ logicalId }) => !roles.has(logicalId)),
    ).toEqual([]);
    expect(
      policies.flatMap(({ properties }) => properties.Roles).filter(({ Ref }) => !roles.has(Ref)),
    ).toEqual([]);
  });

  test("the private key can be read by the login and by its rotation alone", () => {
    const readers = functionIds.filter((id) => access[id].signingKey?.includes("GetSecretValue"));
    expect(readers.sort()).toEqual(["keys/rotate", "profile/authenticate"]);
  });

  test("nothing in the template is for a local run", () => {
    const text = JSON.stringify(template);
    const local = [
      "AWS_ENDPOINT_URL",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "SINK_ALLOWED_NETWORKS",
      "127.0.0.1",
      "localhost",
    ];
    expect(local.filter((one) => text.includes(one))).toEqual([]);
  });
});

test("every default can be read as its variable", () => {
  for (const { read, default: value } of Object.values(configuration)) {
    expect(read(value)).toBeDefined();
  }
});
