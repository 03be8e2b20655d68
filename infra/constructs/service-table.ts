import { RemovalPolicy, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import type { Table as DeclaredTable } from "../../shared/table.ts";
import type { WarmThroughput } from "../settings.ts";
import type { StageTraits } from "../stage.ts";

interface ServiceTableProps {
  readonly table: DeclaredTable;
  readonly tableName: string;
  readonly traits: StageTraits;
  /** Encrypts a table with personal data; DynamoDB encrypts others with a key of its own. */
  readonly key: IKey;
  /** Of the table and each of its indexes, where it is more than that of new ones. */
  readonly warmThroughput: WarmThroughput | undefined;
}

/**
 * A table as its area declares it, paid per request. In a stage that keeps data, it is protected from deletion,
 * retained when the stack is deleted, and has point-in-time recovery, unless its items can be made or imported again.
 */
export class ServiceTable extends Table {
  constructor(
    scope: Construct,
    id: string,
    { table, tableName, traits, key, warmThroughput }: ServiceTableProps,
  ) {
    const { partitionKey, sortKey, timeToLive, indexes = [], ephemeral = false } = table;
    const { reimportable = false, personalData = false } = table;
    const warm =
      warmThroughput === undefined
        ? {}
        : {
            warmThroughput: {
              readUnitsPerSecond: warmThroughput.reads,
              writeUnitsPerSecond: warmThroughput.writes,
            },
          };
    const isKept = traits.keepsData && !ephemeral;
    const isBackedUp = isKept && !reimportable;
    super(scope, id, {
      tableName,
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey === undefined ? {} : { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      ...(timeToLive === undefined ? {} : { timeToLiveAttribute: timeToLive }),
      ...(personalData ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key } : {}),
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...warm,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: isBackedUp },
      deletionProtection: isKept,
      removalPolicy: isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    for (const index of indexes) {
      this.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: { name: index.partitionKey, type: AttributeType.STRING },
        sortKey: { name: index.sortKey, type: AttributeType.STRING },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: [...index.attributes],
        ...warm,
      });
    }
    if (!isBackedUp)
      Validations.of(this).acknowledge({ id: "AwsSolutions-DDB3", reason: notBackedUp(table) });
  }
}

function notBackedUp({ ephemeral, reimportable }: DeclaredTable): string {
  if (ephemeral)
    return (
      "Its items are forgotten within days and are made again by further requests: a copy of them from " +
      "last week is of no use."
    );
  if (reimportable)
    return (
      "Its items are computed from files that the operator has: importing them again is the recovery, " +
      "and backups of this much data cost as much as the data."
    );
  return "A stage to try things out, whose items come from files that are imported again.";
}
