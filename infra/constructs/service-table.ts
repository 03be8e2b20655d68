import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, Table } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { type TableName, tableDescription } from "../../shared/tables.ts";

/**
 * A table as `shared/tables.ts` describes it: paid per request; recoverable to any second and kept when the
 * stack goes, unless its items can be made again.
 */
export class ServiceTable extends Table {
  constructor(scope: Construct, id: string, table: TableName) {
    const { partitionKey, sortKey, timeToLive, ephemeral = false } = tableDescription(table);
    super(scope, id, {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey === undefined ? {} : { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      ...(timeToLive === undefined ? {} : { timeToLiveAttribute: timeToLive }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: !ephemeral },
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
  }
}
