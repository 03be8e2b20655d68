import { DynamoDBClient, GetItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
import { excludeDay } from "../../../../functions/population-density/import/publish/exclude-day.ts";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import {
  freeDay,
  readDayParts,
  takeDay,
} from "../../../../functions/population-density/import/store/part-store.ts";
import { observedDay } from "../../../../functions/population-density/tiles/store.ts";
import {
  dayOf,
  freshTile,
  friday,
  monday,
  observed,
  tileOf,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

test("excluding a day waits for an import that takes the day after the exclusion has looked for imports", async () => {
  const key = observedDay(friday);
  await storeDay(dayOf(friday, tileOf(freshTile(), { 8: { 0: 100 } })), observed);
  const read = await readDayParts(key);
  const order: string[] = [];
  let looks = 0;
  const { send } = DynamoDBClient.prototype;
  const spied = vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBClient,
    ...sent
  ) {
    const answer = await Reflect.apply(send, this, sent);
    if (order.length === 0 && isQueryOfDays(sent[0])) {
      order.push("taken");
      await takeDay(key, "another", Date.now() + 3_600_000, read);
    } else if (order.length === 1 && isReadOfDay(sent[0], key) && ++looks === 3) {
      order.push("released");
      await freeDay(key, "another");
    }
    return answer;
  });
  await excludeDay(friday, true, new Date(`${friday}T12:00:00Z`)).finally(() => spied.mockRestore());
  order.push("excluded");

  expect(order).toEqual(["taken", "released", "excluded"]);
});

test.each([friday, monday])(
  "excluding a day says once that it waits for an import of %s, and until when",
  async (stored) => {
    await storeDay(dayOf(friday, tileOf(freshTile(), { 8: { 0: 100 } })), observed);
    const [until, told] = [Date.now() + 3_000, vi.fn()];
    expect(
      await takeDay(observedDay(stored), "another", until, await readDayParts(observedDay(stored))),
    ).toBe(true);

    await excludeDay(friday, true, new Date(`${friday}T12:00:00Z`), told);

    expect(told.mock.calls).toEqual([[friday, until]]);
  },
);

function isReadOfDay(command: unknown, day: string): boolean {
  if (!(command instanceof GetItemCommand)) return false;
  const { TableName, Key = {} } = command.input;
  return TableName === process.env.TABLE_DENSITY_IMPORTS && Object.values(Key).some(({ S }) => S === day);
}

function isQueryOfDays(command: unknown): boolean {
  if (!(command instanceof QueryCommand)) return false;
  const { TableName, ExpressionAttributeValues = {} } = command.input;
  const isDays = Object.values(ExpressionAttributeValues).some(({ S }) => S === "parts");
  return isDays && TableName === process.env.TABLE_DENSITY_IMPORTS;
}
