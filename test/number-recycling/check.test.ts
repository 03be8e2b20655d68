import { beforeAll, describe, expect, test } from "vitest";
import { historyOf, replaceHistory } from "../../functions/number-recycling/store.ts";
import { dayOf } from "../../shared/calendar.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { plainDevice, storeDevice } from "../support/device.ts";

const path = "/numberrecycling/check";
const alias = "/number-recycling/v0.2/check";
const signal = AbortSignal.timeout(600_000);

async function check(body: unknown, claims: Record<string, unknown> = {}, at = path) {
  const token = await tokenWith({ scope: "number-recycling:check", ...claims });
  return await call(at, { method: "POST", body, token, headers: { "x-correlator": "number-1" } });
}

const refused = (status: number, code: string) => ({ status, body: { status, code } });
/** Still to come if a day ends during a test. */
const dayToCome = () => dayOf(new Date(Date.now() + 2 * 86_400_000));

describe("200", () => {
  test("POST /numberrecycling/check and its alias return 200 for today", async () => {
    const body = { phoneNumber: "+34600000011", specifiedDate: dayOf(new Date()) };
    expect(await check(body)).toMatchObject({ status: 200, body: { phoneNumberRecycled: false } });
    expect(await check(body, {}, alias)).toMatchObject({ status: 200, body: { phoneNumberRecycled: false } });
  });
});

describe("400", () => {
  test("POST /numberrecycling/check returns 400 OUT_OF_RANGE for a specifiedDate in the future, before it looks up the number", async () => {
    for (const body of [{ phoneNumber: "+34600000011" }, { phoneNumber: "+34699999999" }, {}]) {
      expect(await check({ ...body, specifiedDate: dayToCome() })).toMatchObject(
        refused(400, "OUT_OF_RANGE"),
      );
    }
    const unnecessary = { phoneNumber: "+34600000001", specifiedDate: dayToCome() };
    expect(await check(unnecessary, { subscription: "s-0001" })).toMatchObject(refused(400, "OUT_OF_RANGE"));
  });
});

const specifiedDate = "2023-12-22";

describe("404 IDENTIFIER_NOT_FOUND", () => {
  beforeAll(useTables);

  test("POST /numberrecycling/check returns 404 for a number whose first assignment is in the future", async () => {
    const phoneNumber = `+98${Date.now()}`.slice(0, 15);
    await replaceHistory(phoneNumber, [{ phoneNumber, subscriber: "s", from: dayToCome() }], signal);
    expect(await check({ phoneNumber, specifiedDate })).toMatchObject(refused(404, "IDENTIFIER_NOT_FOUND"));
  });

  test("POST /numberrecycling/check returns 404 for a token of a subscription without a number", async () => {
    const subscription = crypto.randomUUID();
    expect(await check({ specifiedDate }, { subscription })).toMatchObject(
      refused(404, "IDENTIFIER_NOT_FOUND"),
    );
    await storeDevice({ ...plainDevice, subscription });
    expect(await check({ specifiedDate }, { subscription })).toMatchObject(
      refused(404, "IDENTIFIER_NOT_FOUND"),
    );
  });
});

test("replacing a history removes all of the old one, and the number never looks unassigned meanwhile", async () => {
  useTables();
  const phoneNumber = `+97${Date.now()}`.slice(0, 15);
  const first = [
    { phoneNumber, subscriber: "a", from: "2020-01-01", to: "2021-01-01" },
    { phoneNumber, subscriber: "b", from: "2022-01-01" },
  ];
  const second = [{ phoneNumber, subscriber: "c", from: "2022-01-01", to: "2023-01-01" }];
  await replaceHistory(phoneNumber, first, signal);
  expect(await historyOf(phoneNumber, signal)).toEqual(first);

  await replaceHistory(phoneNumber, second, signal);

  expect(await historyOf(phoneNumber, signal)).toEqual(second);
});
