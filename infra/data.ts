import { Stack, type StackProps } from "aws-cdk-lib";
import { type ITable, Table } from "aws-cdk-lib/aws-dynamodb";
import { AnyPrincipal, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { type TableName, tables } from "../functions/areas.ts";
import type { QueueName } from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { removalPolicyIn } from "./constructs/removal-policy.ts";
import type { ServiceQueue } from "./constructs/service-queue.ts";
import { ServiceTable } from "./constructs/service-table.ts";
import { addTableOutput } from "./outputs.ts";
import { addQueues } from "./queues.ts";
import type { Settings } from "./settings.ts";
import type { StageTraits } from "./stage.ts";
import type { TableNames } from "./table-names.ts";

interface DataStackProps extends StackProps {
  readonly traits: StageTraits;
  readonly tableNames: TableNames;
  /** Names that the operator has chosen, as for restored tables. */
  readonly chosenNames: Readonly<Partial<TableNames>>;
  readonly warmThroughput: Settings["warmThroughput"];
}

/**
 * The tables of the areas and the key that encrypts them, in a stack of their own that releases of functions do not
 * change.
 */
export class DataStack extends Stack {
  /** Encrypts tables with personal data, and all queues. */
  readonly key: Key;

  constructor(scope: Construct, id: string, props: DataStackProps) {
    const { traits, tableNames, chosenNames, warmThroughput, ...others } = props;
    super(scope, id, { ...others, terminationProtection: traits.keepsData });
    this.key = new Key(this, "DataKey", {
      description: "Personal data, credentials and messages of the Network Capabilities Service",
      enableKeyRotation: true,
      // Retained tables cannot be read without it.
      removalPolicy: removalPolicyIn(traits),
    });
    // Only AWS services may create grants, on behalf of their users.
    this.key.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ["kms:CreateGrant"],
        resources: ["*"],
        conditions: { BoolIfExists: { "kms:GrantIsForAWSResource": "false" } },
      }),
    );
    for (const table of tables) {
      const [chosen] = chosenNames[table.name] ?? [];
      // CloudFormation can import a table only as a new resource, so a chosen name changes the logical id.
      const tableId = [tableVariable(table), ...(chosen === undefined ? [] : [chosen])].join("-");
      const [tableName] = tableNames[table.name];
      new ServiceTable(this, tableId, {
        table,
        tableName,
        traits,
        key: this.key,
        warmThroughput: warmThroughput[table.name],
      });
    }
  }
}

/** Tables and queues of the service, and the key that encrypts them. */
export interface Data {
  readonly key: IKey;
  readonly tables: Readonly<Record<TableName, ITable>>;
  /** What a function that is granted a table may use: also the table that the version before uses, if it is another. */
  readonly tableArns: Readonly<Record<TableName, readonly string[]>>;
  readonly queues: Readonly<Record<QueueName, ServiceQueue>>;
}

/** Adds every queue, and refers to every table by its name; the names of both are outputs of the stack. */
export function addData(scope: Construct, key: IKey, tableNames: TableNames): Data {
  const referred = tables.map((table) => {
    const one = Table.fromTableName(scope, tableVariable(table), tableNames[table.name][0]);
    addTableOutput(scope, table, one.tableName);
    return [table.name, one];
  });
  const arns = tables.map(({ name }) => [
    name,
    tableNames[name].map((resourceName) =>
      Stack.of(scope).formatArn({ service: "dynamodb", resource: "table", resourceName }),
    ),
  ]);
  return {
    key,
    tables: Object.fromEntries(referred) as Record<TableName, ITable>,
    tableArns: Object.fromEntries(arns) as Data["tableArns"],
    queues: addQueues(scope, key),
  };
}
