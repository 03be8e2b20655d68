import { DynamoDBClient, QueryCommand } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
import { excludeDay } from "../../../../functions/population-density/import/publish/exclude-day.ts";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import {
  readDayParts,
  releaseDay,
  takeDay,
} from "../../../../functions/population-density/import/store/part-store.ts";
import { observedDay } from "../../../../functions/population-density/tiles/store.ts";
import { dayOf, freshTile, friday, observed, tileOf, useOwnDensities } from "../../../support/stored-days.ts";

useOwnDensities();

test("an exclusion waits for an import that takes the day after no import had any", async () => {
  const key = observedDay(friday);
  await storeDay(dayOf(friday, tileOf(freshTile(), { 8: { 0: 100 } })), observed);
  /** Who has the day whenever the exclusion asks which days imports have. */
  const writers: (string | undefined)[] = [];
  const { send } = DynamoDBClient.prototype;
  const spied = vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBClient,
    ...sent
  ) {
    if (!isQueryOfDays(sent[0])) return await Reflect.apply(send, this, sent);
    const read = await readDayParts(key);
    writers.push(read?.writer);
    if (writers.length > 1) await releaseDay(key, "another");
    const answer = await Reflect.apply(send, this, sent);
    if (writers.length === 1) await takeDay(key, "another", Date.now() + 60_000, read);
    return answer;
  });
  await excludeDay(friday, true, new Date(`${friday}T12:00:00Z`)).finally(() => spied.mockRestore());

  expect(writers).toEqual([undefined, "another"]);
});

function isQueryOfDays(command: unknown): boolean {
  if (!(command instanceof QueryCommand)) return false;
  const { TableName, ExpressionAttributeValues = {} } = command.input;
  const isDays = Object.values(ExpressionAttributeValues).some(({ S }) => S === "parts");
  return isDays && TableName === process.env.TABLE_DENSITY_IMPORTS;
}
