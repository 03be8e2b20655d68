import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { CfnGlobalTable } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import type { Table as DeclaredTable } from "../../shared/table.ts";
import type { WarmThroughput } from "../settings.ts";
import type { StageTraits } from "../stage.ts";
import { removalPolicyIn } from "./removal-policy.ts";

interface ServiceTableProps {
  readonly table: DeclaredTable;
  readonly tableName: string;
  readonly traits: StageTraits;
  /** Encrypts a table with personal data; DynamoDB encrypts others with a key of its own. */
  readonly key: IKey;
  /** Throughput of the table and each of its indexes from the start, where it is more than that of new ones. */
  readonly warmThroughput: WarmThroughput | undefined;
}

/**
 * A table as its area declares it, paid per request. In a stage that keeps data, it is retained when the stack is
 * deleted; unless it is ephemeral, it is also protected from deletion, retained when a first deployment fails, and has
 * point-in-time recovery where its items cannot be imported again.
 *
 * It is a global table of one replica, at the price of a table without any: it can get a second region later, whereas
 * CloudFormation changes an `AWS::DynamoDB::Table` into one only by removing and importing it.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
 */
export class ServiceTable extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { table, tableName, traits, key, warmThroughput }: ServiceTableProps,
  ) {
    super(scope, id);
    const { partitionKey, sortKey, timeToLive, indexes = [], ephemeral = false } = table;
    const { reimportable = false, personalData = false, rarelyRead = false } = table;
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
    const keyed = [table, ...indexes].flatMap((one) => [one.partitionKey, one.sortKey ?? []]).flat();
    // CDK's own construct of a global table takes no key in a stack of any region.
    const made = new CfnGlobalTable(this, "Resource", {
      tableName,
      keySchema: keySchema(partitionKey, sortKey),
      attributeDefinitions: [...new Set(keyed)].map((attributeName) => ({
        attributeName,
        attributeType: "S",
      })),
      ...(timeToLive === undefined
        ? {}
        : { timeToLiveSpecification: { attributeName: timeToLive, enabled: true } }),
      ...(personalData ? { sseSpecification: { sseEnabled: true, sseType: "KMS" } } : {}),
      billingMode: "PAY_PER_REQUEST",
      ...warm,
      ...(indexes.length === 0
        ? {}
        : {
            globalSecondaryIndexes: indexes.map((index) => ({
              indexName: index.name,
              keySchema: keySchema(index.partitionKey, index.sortKey),
              projection: { projectionType: "INCLUDE", nonKeyAttributes: [...index.attributes] },
              ...warm,
            })),
          }),
      replicas: [
        {
          region: Stack.of(this).region,
          ...(personalData ? { sseSpecification: { kmsMasterKeyId: key.keyArn } } : {}),
          ...(rarelyRead ? { tableClass: "STANDARD_INFREQUENT_ACCESS" } : {}),
          pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: isKept && !reimportable },
          deletionProtectionEnabled: isKept,
          // A stack's tags do not reach them: https://github.com/aws/aws-cdk/issues/25443
          tags: Object.entries(Stack.of(this).tags.tagValues()).map(([name, value]) => ({
            key: name,
            value,
          })),
        },
      ],
    });
    // An ephemeral table holds what was accepted: a day's deliveries outlive a stack that is deleted by mistake.
    made.applyRemovalPolicy(isKept ? RemovalPolicy.RETAIN : removalPolicyIn(traits));
  }
}

function keySchema(partitionKey: string, sortKey: string | undefined): CfnGlobalTable.KeySchemaProperty[] {
  return [
    { attributeName: partitionKey, keyType: "HASH" },
    ...(sortKey === undefined ? [] : [{ attributeName: sortKey, keyType: "RANGE" }]),
  ];
}
