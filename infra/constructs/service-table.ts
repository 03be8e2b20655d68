import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { type TableName, tableDescription } from "../../shared/tables.ts";
import type { StageTraits } from "../stage.ts";

interface ServiceTableProps {
  readonly table: TableName;
  readonly traits: StageTraits;
  /** Encrypts the table; without one DynamoDB does so with a key of its own. */
  readonly key?: IKey;
}

/**
 * A table as `shared/tables.ts` describes it, paid per request. In a stage that keeps data it can be recovered to any
 * second and not be deleted, and it stays when the stack goes, unless its items can be made again.
 */
export class ServiceTable extends Table {
  constructor(scope: Construct, id: string, { table, traits, key }: ServiceTableProps) {
    const { partitionKey, sortKey, timeToLive, index, ephemeral = false } = tableDescription(table);
    const isKept = traits.keepsData && !ephemeral;
    super(scope, id, {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey === undefined ? {} : { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      ...(timeToLive === undefined ? {} : { timeToLiveAttribute: timeToLive }),
      ...(key === undefined ? {} : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: isKept },
      deletionProtection: isKept,
      removalPolicy: isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    if (index !== undefined) {
      this.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: { name: index.partitionKey, type: AttributeType.STRING },
        sortKey: { name: index.sortKey, type: AttributeType.STRING },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...index.attributes],
      });
    }
    if (isKept) return;
    Validations.of(this).acknowledge({
      id: "AwsSolutions-DDB3",
      reason: ephemeral
        ? "Its items are forgotten within days and are made again by further requests: a copy of them from last week is of no use."
        : "A stage to try things out, whose items come from files that are imported again.",
    });
  }
}
