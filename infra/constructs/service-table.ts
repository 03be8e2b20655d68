import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { Table as DeclaredTable } from "../../shared/table.ts";
import type { StageTraits } from "../stage.ts";

interface ServiceTableProps {
  readonly table: DeclaredTable;
  readonly traits: StageTraits;
  /** Encrypts a table with personal data; DynamoDB encrypts others with a key of its own. */
  readonly key: IKey;
}

/**
 * A table as its area declares it, paid per request. In a stage that keeps data it can be recovered to any
 * second and not be deleted, and it stays when the stack goes, unless its items can be made again.
 */
export class ServiceTable extends Table {
  constructor(scope: Construct, id: string, { table, traits, key }: ServiceTableProps) {
    const { partitionKey, sortKey, timeToLive, index, ephemeral = false, personalData = false } = table;
    const isKept = traits.keepsData && !ephemeral;
    super(scope, id, {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey === undefined ? {} : { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      ...(timeToLive === undefined ? {} : { timeToLiveAttribute: timeToLive }),
      ...(personalData ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key } : {}),
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
