import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import { PolicyStatement, type PolicyStatementProps } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { tables } from "../functions/areas.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { constructIdOf } from "./bundles.ts";
import { ServiceFunction } from "./constructs/service-function.ts";
import type { SecretReference } from "./constructs/signing-key.ts";
import type { Data } from "./data.ts";
import { checkEnvironmentSize } from "./environment-size.ts";
import { functionVariables } from "./function-variables.ts";
import { type FunctionId, functionRecords } from "./functions.ts";
import { metricNamespaceOf } from "./metrics.ts";
import { samLocalEnvironment } from "./sam-local.ts";
import type { Settings } from "./settings.ts";
import type { StageTraits } from "./stage.ts";

interface FunctionContext {
  /** The folder with the bundles. */
  readonly bundles: string;
  readonly data: Data;
  readonly signingKey: SecretReference;
  readonly settings: Settings;
  readonly traits: StageTraits;
}

/** Adds a function with exactly the rights, the environment and the size that its record gives it. */
export function addFunction(scope: Construct, id: FunctionId, context: FunctionContext): ServiceFunction {
  const { bundles, settings, traits } = context;
  const { timeoutSeconds, memoryMegabytes } = functionRecords[id];
  const reservedConcurrency = settings.reservedConcurrency[id];
  const environment = environmentOf(scope, id, context);
  checkEnvironmentSize(id, environment);
  const made = new ServiceFunction(scope, constructIdOf(id), {
    bundle: join(bundles, id),
    description: id,
    environment,
    traits,
    traced: settings.traced,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(memoryMegabytes === undefined ? {} : { memoryMegabytes }),
    ...(reservedConcurrency === undefined ? {} : { reservedConcurrency }),
  });
  grant(made, id, context);
  return made;
}

function environmentOf(
  scope: Construct,
  id: FunctionId,
  { data, signingKey, settings }: FunctionContext,
): Record<string, string> {
  return {
    ...(settings.samLocal ? samLocalEnvironment : {}),
    ...restarted(settings),
    ...functionVariables(id, settings, {
      table: (name) => data.tables[name].tableName,
      queueUrl: (name) => data.queues[name].queueUrl,
      signingKeySecretArn: signingKey.secretArn,
      metricNamespace: metricNamespaceOf(scope),
    }),
  };
}

/** A variable that no code reads: another value makes a new version of a function, and so new execution environments. */
export function restarted({ restart }: Pick<Settings, "restart">): Readonly<Record<string, string>> {
  return restart === undefined ? {} : { RESTART: restart };
}

/** Actions on a table that write. */
const changingActions = /^(?:(?:Delete|Put|Update)Item|PartiQLInsert)$/;

/** The KMS actions of DynamoDB on behalf of a function: for reads, and further ones for writes. */
const readingKey = ["Decrypt", "DescribeKey"];
const changingKey = ["Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"];

function grant(made: ServiceFunction, id: FunctionId, { data, signingKey }: FunctionContext): void {
  const {
    tables: granted = {},
    indexes: queried = {},
    partitions = {},
    signingKey: secretActions,
    queues: used = {},
    consumes,
  } = functionRecords[id];
  const permit = (
    actions: string[],
    resources: readonly string[],
    conditions?: PolicyStatementProps["conditions"],
  ) =>
    made.addToRolePolicy(
      new PolicyStatement({ actions, resources: [...resources], ...(conditions && { conditions }) }),
    );
  const grantedTables = tables.filter(({ name }) => granted[name] !== undefined);
  for (const { name, indexes = [] } of grantedTables) {
    const actions = granted[name] ?? [];
    const only = partitions[name];
    const arns = data.tableArns[name];
    permit(
      actions.map((action) => `dynamodb:${action}`),
      arns,
      // A call that names no key would meet the first condition alone.
      only && {
        "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": only },
        Null: { "dynamodb:LeadingKeys": "false" },
      },
    );
    for (const index of queried[name] ?? []) {
      if (!indexes.some((one) => one.name === index))
        throw new Error(`${id} queries the index ${index}, which ${name} does not have`);
      permit(
        ["dynamodb:Query"],
        arns.map((arn) => `${arn}/index/${index}`),
      );
    }
  }
  if (secretActions !== undefined) {
    permit(
      secretActions.map((action) => `secretsmanager:${action}`),
      [signingKey.secretArn],
    );
  }
  const queueNames = Object.keys(used) as QueueName[];
  for (const name of queueNames) {
    permit(
      (used[name] ?? []).map((action) => `sqs:${action}`),
      [data.queues[name].queueArn],
    );
  }
  const encrypted = grantedTables.filter(({ personalData }) => personalData);
  if (encrypted.length > 0) {
    const changes = encrypted.some(({ name }) =>
      granted[name]?.some((action) => changingActions.test(action)),
    );
    permitKey(made, data, "dynamodb", changes ? [...readingKey, ...changingKey] : readingKey);
  }
  if (queueNames.length > 0 || consumes !== undefined) {
    permitKey(made, data, "sqs", ["Decrypt", "GenerateDataKey"]);
  }
}

/** Permits the key through one service only, so that the function can decrypt only what it may read there. */
function permitKey(
  user: ServiceFunction,
  { key }: Data,
  service: "dynamodb" | "sqs",
  operations: readonly string[],
): void {
  user.addToRolePolicy(
    new PolicyStatement({
      actions: operations.map((operation) => `kms:${operation}`),
      resources: [key.keyArn],
      conditions: { StringEquals: { "kms:ViaService": `${service}.${Stack.of(user).region}.amazonaws.com` } },
    }),
  );
}
