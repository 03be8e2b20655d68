import { beforeAll, expect, test, vi } from "vitest";
import { replaceHistory } from "../../../functions/number-recycling/store.ts";
import { configuration } from "../../../infra/variables.ts";
import { pseudonymOf } from "../../../shared/access-records/pseudonym.ts";
import { recordAccess } from "../../../shared/access-records/record-access.ts";
import { accessRecords } from "../../../shared/access-records/table.ts";
import { getItem, queryPartition } from "../../../shared/aws/database.ts";
import { getOrCreatePseudonymKey } from "../../../shared/pseudonym-keys/key.ts";
import { pseudonymKeys } from "../../../shared/pseudonym-keys/table.ts";
import { call, tokenWith } from "../../support/client.ts";
import { useOwnTable, useTables } from "../../support/database.ts";
import { plainDevice, storeDevice } from "../../support/device.ts";

const signal = AbortSignal.timeout(600_000);
const scope = "qos-profiles:read number-recycling:check device-identifier:retrieve-identifier";
const paths = {
  identifier: "/deviceidentifier/retrieve-identifier",
  number: "/numberrecycling/check",
  profiles: "/qualityondemand/retrieve-qos-profiles",
};

let phoneNumber: string;
let subscription: string;
let token: string;
beforeAll(async () => {
  useTables();
  phoneNumber = `+4479${Date.now() % 1e10}`;
  subscription = `recorded-${crypto.randomUUID()}`;
  token = await tokenWith({ scope: `${scope} dpv:Marketing`, client_id: "shop", sub: "shop" });
  await storeDevice({ ...plainDevice, subscription, phoneNumber });
  await replaceHistory(phoneNumber, [{ phoneNumber, subscriber: subscription, from: "2020-01-01" }], signal);
});

async function recordsOf(about: string) {
  const key = await getOrCreatePseudonymKey("access-records", signal);
  return await queryPartition(accessRecords, pseudonymOf(about, key), signal);
}

const specifiedDate = "2024-01-01";
const days = Number(configuration.ACCESS_RECORD_DAYS.default);

test("each operation that answers about a subscriber records who read what, when and for which purpose", async () => {
  const before = new Date();
  const ofSubscriber = await tokenWith({ scope, subscription, client_id: "other", sub: "person" });
  const asked = [
    [paths.identifier, { device: { phoneNumber } }, token],
    [paths.number, { phoneNumber, specifiedDate }, token],
    [paths.profiles, { device: { phoneNumber } }, token],
    [paths.number, { specifiedDate }, ofSubscriber],
  ] as const;
  for (const [path, body, as] of asked)
    expect(await call(path, { body, token: as })).toMatchObject({ status: 200 });
  const byName = (name: string) => call(`/qualityondemand/qos-profiles/${name}`, { token: ofSubscriber });
  expect(await byName("QOS_E")).toMatchObject({ status: 200 });

  const records = await recordsOf(subscription);

  expect(records.map(({ client, kind, purpose }) => [client, kind, purpose])).toEqual([
    ["shop", "device-identifiers", "dpv:Marketing"],
    ["shop", "number-history", "dpv:Marketing"],
    ["shop", "qos-profiles", "dpv:Marketing"],
    ["other", "number-history", undefined],
    ["other", "qos-profiles", undefined],
  ]);
  for (const { at, expiresAt } of records) {
    const readAt = Date.parse(at.split(" ")[0] ?? "");
    expect(readAt).toBeGreaterThanOrEqual(before.getTime());
    expect(expiresAt).toBe(Math.ceil(readAt / 1_000) + days * 86_400);
  }
});

test("an answer 404 that a device may not use an existing QoS profile is recorded, one that there is none is not", async () => {
  const about = `restricted-${crypto.randomUUID()}`;
  await storeDevice({ ...plainDevice, subscription: about });
  const of = (claims: object) => tokenWith({ scope, client_id: "other", sub: "person", ...claims });
  const byName = async (name: string, as: string) =>
    (await call(`/qualityondemand/qos-profiles/${name}`, { token: as })).status;
  const ofSubscriber = await of({ subscription: about });
  const ofNobody = `erased-${crypto.randomUUID()}`;

  expect(await byName("NO_SUCH_PROFILE", ofSubscriber)).toBe(404);
  expect(await recordsOf(about)).toEqual([]);
  expect(await byName("QOS_RESTRICTED", await of({ subscription: ofNobody }))).toBe(404);
  expect(await recordsOf(ofNobody)).toEqual([]);
  expect(await byName("QOS_RESTRICTED", ofSubscriber)).toBe(404);
  expect(await recordsOf(about)).toMatchObject([{ client: "other", kind: "qos-profiles" }]);
});

test("an answer 400 that two identifiers belong to two subscribers is recorded about each of them", async () => {
  const [one, other] = [`one-${crypto.randomUUID()}`, `other-${crypto.randomUUID()}`];
  const number = `+4476${Date.now() % 1e10}`;
  const prefix = `2001:db8:${(Date.now() % 0xffff).toString(16)}:4::`;
  await storeDevice({ ...plainDevice, subscription: one, phoneNumber: number });
  await storeDevice({ ...plainDevice, subscription: other, ipv6Prefix: `${prefix}/64` });
  const device = { phoneNumber: number, ipv6Address: `${prefix}1` };
  expect(await call(paths.identifier, { body: { device }, token })).toMatchObject({ status: 400 });
  for (const about of [one, other]) {
    expect(await recordsOf(about)).toMatchObject([{ client: "shop", kind: "device-identifiers" }]);
  }
});

test("a number whose device is not known is recorded for its latest subscriber", async () => {
  const number = `+4478${Date.now() % 1e10}`;
  const [earlier, later] = [`earlier-${crypto.randomUUID()}`, `later-${crypto.randomUUID()}`];
  const history = [
    { phoneNumber: number, subscriber: earlier, from: "2019-01-01", to: "2019-12-31" },
    { phoneNumber: number, subscriber: later, from: "2020-01-01" },
  ];
  await replaceHistory(number, history, signal);
  await call(paths.number, { body: { phoneNumber: number, specifiedDate }, token });
  expect(await recordsOf(later)).toMatchObject([{ client: "shop", kind: "number-history" }]);
  expect(await recordsOf(earlier)).toEqual([]);
});

test("a request that is refused for lack of consent, or is about nobody, records nothing", async () => {
  const silent = `silent-${crypto.randomUUID()}`;
  const number = `+4477${Date.now() % 1e10}`;
  await storeDevice({ ...plainDevice, subscription: silent, phoneNumber: number, identifierConsent: false });
  const refused = await call(paths.identifier, { body: { device: { phoneNumber: number } }, token });
  expect(refused).toMatchObject({ status: 403 });
  expect(await call(paths.profiles, { body: {}, token })).toMatchObject({ status: 200 });
  expect(await recordsOf(silent)).toEqual([]);
});

test("requests of one moment have a record each, and with ACCESS_RECORD_DAYS 0 there is none", async () => {
  vi.stubEnv("ACCESS_RECORD_DAYS", "1");
  const about = `repeated-${crypto.randomUUID()}`;
  const request = { now: new Date(), signal, quotaChecked: Promise.resolve() };
  const access = { subscription: about, kind: "subscription", by: { client: "shop" } } as const;
  await Promise.all([recordAccess(access, request), recordAccess(access, request)]);
  expect(await recordsOf(about)).toHaveLength(2);
  vi.stubEnv("ACCESS_RECORD_DAYS", "0");
  await recordAccess(access, request);
  expect(await recordsOf(about)).toHaveLength(2);
  vi.unstubAllEnvs();
  useTables();
});

test("a request over its quota records nothing", async () => {
  vi.stubEnv("ACCESS_RECORD_DAYS", "1");
  const about = `over-quota-${crypto.randomUUID()}`;
  const over = { now: new Date(), signal, quotaChecked: Promise.reject(new Error("over its quota")) };
  const access = { subscription: about, kind: "subscription", by: { client: "shop" } } as const;
  await expect(recordAccess(access, over)).rejects.toThrow("over its quota");
  expect(await recordsOf(about)).toEqual([]);
  vi.unstubAllEnvs();
});

test("the key of the pseudonyms is made once, also by several at the same time", async () => {
  await useOwnTable(pseudonymKeys);
  const keys = await Promise.all(
    Array.from({ length: 4 }, () => getOrCreatePseudonymKey("access-records", signal)),
  );
  expect(new Set(keys).size).toBe(1);
  expect((await getItem(pseudonymKeys, { use: "access-records" }, signal))?.key).toBe(keys[0]);
  expect(Buffer.from(keys[0] ?? "", "base64url")).toHaveLength(32);
  vi.unstubAllEnvs();
});

test("a pseudonym is the same for the same subscription and key, and another for each other", () => {
  const [key, other] = ["a2V5", "b3RoZXI"];
  expect(pseudonymOf("s-1", key)).toBe(pseudonymOf("s-1", key));
  expect(new Set([pseudonymOf("s-1", key), pseudonymOf("s-2", key), pseudonymOf("s-1", other)]).size).toBe(3);
});
