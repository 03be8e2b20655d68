import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";

/**
 * The least of `@aws-sdk/client-dynamodb` a function can do with: the client and four commands. What these five
 * names do not need is left out of the bundle.
 */
export const handler = () => [
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
];
