import { Logger } from "@aws-lambda-powertools/logger";
import { APIGatewayProxyEventSchema } from "@aws-lambda-powertools/parser/schemas/api-gateway";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";

/**
 * The comparison for starts: a function as the documents of Powertools and of the SDK write one. It reads an item by its
 * key, and logs that it has.
 */

const logger = new Logger({ serviceName: "plain" });
const client = new DynamoDBClient();

/** Answers with whether there is an item of the caller. */
export async function handler(event: unknown) {
  const { requestContext } = APIGatewayProxyEventSchema.parse(event);
  const caller = { S: requestContext.requestId };
  const read = new GetItemCommand({ TableName: process.env.TABLE_QUOTAS, Key: { caller } });
  const { Item } = await client.send(read);
  logger.info("read");
  return { statusCode: 200, body: JSON.stringify({ isFound: Item !== undefined }) };
}
