import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { hashPassword } from "../../functions/profile/password.ts";
import { hashed } from "../../shared/hash.ts";
import { demoLogins } from "../../tools/demo-logins.ts";
import { busyMachine } from "./busy-machine.ts";

/** A hash with the parameters of the functions under test. */
export const quickHash = (password: string) => hashPassword(password, Number(busyMachine.PASSWORD_HASH_LN));

/**
 * Gives the demo's logins hashes that are quick to check; `npm start` shares the saved items, whose hashes take a
 * quarter of a second.
 */
export async function storeQuickLogins(client: DynamoDBClient, TableName: string | undefined): Promise<void> {
  for (const { EmailAddress, password } of demoLogins()) {
    const write = {
      TableName,
      Key: { address: { S: hashed(EmailAddress) } },
      UpdateExpression: "SET passwordHash = :hash",
      ConditionExpression: "attribute_exists(address)",
      ExpressionAttributeValues: { ":hash": { S: await quickHash(password) } },
    };
    await client.send(new UpdateItemCommand(write));
  }
}
