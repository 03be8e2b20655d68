import { APIGatewayClient, GetAccountCommand } from "@aws-sdk/client-api-gateway";
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  NoSuchResourceException,
  ServiceQuotasClient,
} from "@aws-sdk/client-service-quotas";
import { type TableName, tables } from "../../functions/areas.ts";
import type { TableNames } from "../../infra/table-names.ts";
import type { Table } from "../../shared/table.ts";
import {
  type AccountQuotas,
  busyTables,
  type IndexStatus,
  quotaCodes,
  type StageTables,
} from "./preflight-rules.ts";

/** Patient: a person waits, and nobody else. */
const client = {
  maxAttempts: 5,
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    socketTimeout: 10_000,
    throwOnRequestTimeout: true,
  },
};

/**
 * Reads the quotas of the shell's account and region. It needs the rights `lambda:GetAccountSettings`,
 * `apigateway:GET` on `/account`, `servicequotas:GetServiceQuota` and `servicequotas:GetAWSDefaultServiceQuota`.
 * @throws {Error} when AWS does not answer, refuses, or leaves a quota out.
 */
export async function readAccountQuotas(): Promise<AccountQuotas> {
  const [lambda, gateway, quotas] = [
    new LambdaClient(client),
    new APIGatewayClient(client),
    new ServiceQuotasClient(client),
  ];
  try {
    const [
      { AccountLimit, AccountUsage },
      { throttleSettings, cloudwatchRoleArn },
      tableReadUnits,
      tableWriteUnits,
    ] = await Promise.all([
      lambda.send(new GetAccountSettingsCommand({})),
      gateway.send(new GetAccountCommand({})),
      quotaOf(quotas, "dynamodb", quotaCodes.tableReadUnits),
      quotaOf(quotas, "dynamodb", quotaCodes.tableWriteUnits),
    ]);
    return {
      executions: given(AccountLimit?.ConcurrentExecutions, "Lambda's concurrent executions"),
      codeBytes: given(AccountLimit?.TotalCodeSize, "Lambda's storage for code"),
      usedCodeBytes: given(AccountUsage?.TotalCodeSize, "how much code Lambda stores"),
      requestRate: given(throttleSettings?.rateLimit, "API Gateway's rate"),
      requestBurst: given(throttleSettings?.burstLimit, "API Gateway's burst"),
      tableReadUnits,
      tableWriteUnits,
      gatewayMayLog: cloudwatchRoleArn !== undefined && cloudwatchRoleArn !== "",
    };
  } finally {
    for (const one of [lambda, gateway, quotas]) one.destroy();
  }
}

/** Reads what the busy tables of a stage bear at once. It needs the right `dynamodb:DescribeTable`. */
export async function readWarmThroughput(tableNames: TableNames): Promise<StageTables> {
  const dynamodb = new DynamoDBClient(client);
  try {
    const read = busyTables.map(
      async (name) => [name, await warmThroughputOf(dynamodb, tableNames[name][0])] as const,
    );
    return Object.fromEntries(await Promise.all(read)) as StageTables;
  } finally {
    dynamodb.destroy();
  }
}

async function warmThroughputOf(client: DynamoDBClient, TableName: string) {
  const table = await describedTable(client, TableName);
  if (table === undefined) return undefined;
  const { ReadUnitsPerSecond, WriteUnitsPerSecond } = table.WarmThroughput ?? {};
  return {
    reads: given(ReadUnitsPerSecond, `the warm reads of ${TableName}`),
    writes: given(WriteUnitsPerSecond, `the warm writes of ${TableName}`),
  };
}

/**
 * Reads the state of each index that this release declares; none of a table that is yet to be made, with its indexes.
 * It needs the right `dynamodb:DescribeTable`.
 */
export async function readIndexStatus(tableNames: TableNames): Promise<readonly IndexStatus[]> {
  const dynamodb = new DynamoDBClient(client);
  const declared: readonly Table<unknown, TableName>[] = tables;
  try {
    const read = declared
      .filter(({ indexes = [] }) => indexes.length > 0)
      .map(async ({ name, indexes = [] }) => {
        const [table] = tableNames[name];
        const described = await describedTable(dynamodb, table);
        if (described === undefined) return [];
        return indexes.map(({ name: index }) => {
          const found = described.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index);
          return { table, index, status: found?.IndexStatus };
        });
      });
    return (await Promise.all(read)).flat();
  } finally {
    dynamodb.destroy();
  }
}

async function describedTable(
  client: DynamoDBClient,
  TableName: string,
): Promise<TableDescription | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table ?? {};
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** The applied value of a quota; AWS's default while none has been applied to the account. */
async function quotaOf(client: ServiceQuotasClient, ServiceCode: string, QuotaCode: string): Promise<number> {
  const of = { ServiceCode, QuotaCode };
  const { Quota } = await client.send(new GetServiceQuotaCommand(of)).catch((error: unknown) => {
    if (error instanceof NoSuchResourceException)
      return client.send(new GetAWSDefaultServiceQuotaCommand(of));
    throw error;
  });
  return given(Quota?.Value, `the quota ${QuotaCode} of ${ServiceCode}`);
}

function given(value: number | undefined, what: string): number {
  if (value === undefined) throw new Error(`AWS does not say ${what}`);
  return value;
}
