/**
 * The tables of a template.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
 */
import * as z from "zod";
import type { Resources } from "./resources.ts";

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));

const tableSchema = z.object({
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.literal("S") })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.enum(["ALL", "INCLUDE"]),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .optional(),
  BillingMode: z.literal("PAY_PER_REQUEST"),
  TableName: z.string().optional(),
});

/** Properties without an effect on a local run, which takes hours at most, in one region. */
const irrelevant = ["Replicas", "SSESpecification", "TimeToLiveSpecification", "WarmThroughput"];

/** A DynamoDB table of the template; `definition` has the members that `CreateTable` takes. */
export interface LocalTable {
  readonly logicalId: string;
  readonly name: string;
  readonly definition: Omit<z.output<typeof tableSchema>, "TableName">;
}

/** @throws {Error} naming a table of a kind that is not supported locally. */
export function readTables(resources: Resources): readonly LocalTable[] {
  return resources.ofType("AWS::DynamoDB::GlobalTable").map((logicalId) => {
    const { TableName: _, ...definition } = resources.properties(logicalId, tableSchema, irrelevant);
    return { logicalId, name: resources.names(logicalId).ref, definition };
  });
}
