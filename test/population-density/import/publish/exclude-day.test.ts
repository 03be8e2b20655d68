import { DynamoDBClient, QueryCommand } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
import { excludeDay } from "../../../../functions/population-density/import/publish/exclude-day.ts";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { readDayParts, takeDay } from "../../../../functions/population-density/import/store/part-store.ts";
import { observedDay } from "../../../../functions/population-density/tiles/store.ts";
import { dayOf, freshTile, friday, observed, tileOf, useOwnDensities } from "../../../support/stored-days.ts";

useOwnDensities();

test("an exclusion waits for an import that takes the day after no import had any", async () => {
  const key = observedDay(friday);
  await storeDay(dayOf(friday, tileOf(freshTile(), { 8: { 0: 100 } })), observed);
  const read = await readDayParts(key);
  let until: number | undefined;
  const { send } = DynamoDBClient.prototype;
  const spied = vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBClient,
    ...sent
  ) {
    const answer = await Reflect.apply(send, this, sent);
    if (until === undefined && isQueryOfDays(sent[0])) {
      until = Date.now() + 1_500;
      await takeDay(key, "another", until, read);
    }
    return answer;
  });
  await excludeDay(friday, true, new Date(`${friday}T12:00:00Z`)).finally(() => spied.mockRestore());

  expect(Date.now()).toBeGreaterThanOrEqual(until ?? Number.POSITIVE_INFINITY);
});

function isQueryOfDays(command: unknown): boolean {
  if (!(command instanceof QueryCommand)) return false;
  const { TableName, ExpressionAttributeValues = {} } = command.input;
  const isDays = Object.values(ExpressionAttributeValues).some(({ S }) => S === "parts");
  return isDays && TableName === process.env.TABLE_DENSITY_IMPORTS;
}
