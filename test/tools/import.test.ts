import { readFileSync } from "node:fs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type * as z from "zod";
import { findQosProfile } from "../../functions/qos-profiles/store.ts";
import { qosProfiles as qosProfilesTable } from "../../functions/qos-profiles/tables.ts";
import { phoneIdentifier } from "../../shared/devices/keys.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { Problems } from "../../shared/import/problems.ts";
import { type RecordKind, recordFiles } from "../../tools/import/data-files.ts";
import { importKinds } from "../../tools/import/data-folder.ts";
import { type ImportKind, importFile } from "../../tools/import/import-file.ts";
import { useOwnTable, useTables } from "../support/database.ts";
import { plainDevice } from "../support/device.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const signal = AbortSignal.timeout(600_000);
const folder = useOwnFolder();
beforeAll(() => useTables());

/** A file of its own, of records or of a text. */
const fileOf = (content: unknown, ending = "json") =>
  folder.write(`${crypto.randomUUID()}.${ending}`, content);

const rate = (value: number, unit: string) => ({ value, unit });

describe("a bad record is named by file, position and field", () => {
  const good = { name: "QOS_GOOD", status: "ACTIVE" };

  test.each([
    ["a missing member", [good, { name: "QOS_X" }], /\.json: record 2, status: /],
    ["an unknown member", [{ ...good, maxRate: 1 }], /record 1, maxRate: /],
    ["a value out of range", [{ ...good, priority: 101 }], /record 1, priority: /],
    ["a nested fault", [{ ...good, jitter: { value: 0, unit: "Seconds" } }], /record 1, jitter\.value: /],
    [
      "a name given twice",
      [good, { name: "QOS_B", status: "ACTIVE" }, good],
      /record 3, name: the same as in record 1/,
    ],
    [
      "a minimum above its maximum in other units",
      [{ ...good, targetMinUpstreamRate: rate(2, "Mbps"), maxUpstreamRate: rate(1_000, "kbps") }],
      /record 1, targetMinUpstreamRate: exceeds its maximum/,
    ],
    [
      "a misspelt member deep inside",
      [{ ...good, jitter: { value: 1, units: "Seconds" } }],
      /record 1, jitter\.units: unknown field; did you mean unit\?/,
    ],
    ["a record that is no object", [good, 7], /record 2, the record: /],
  ])("ncs import names file, record and field of %s", async (_, records, message) => {
    const importing = importFile(importKinds["qos-profiles"], await fileOf(records));
    await expect(importing).rejects.toThrow(ImportError);
    await expect(importing).rejects.toThrow(message);
  });

  const device = JSON.parse(readFileSync("tools/demo/devices.json", "utf8"))[0];
  const profile = { ID: 5, Username: "x", DateCreated: "2026-01-01T00:00:00Z", IsProfilePublic: true };
  const another = { ...device, subscription: "s-x", ipv4Addresses: [], ipv6Prefix: undefined };

  test.each([
    [
      "an IMEI with a wrong check digit",
      "devices",
      [{ ...device, imei: "490154203237519" }],
      /record 1, imei: has a wrong check digit/,
    ],
    [
      "notApplicable with an area that knows no devices",
      "devices",
      [
        { ...device, notApplicable: ["qos-profiles", "device-identifier", "number-recycling"] },
        { ...device, notApplicable: ["qos-profiles", "profile"] },
      ],
      /^(?!.*record 1, notApplicable).*record 2, notApplicable\.1: /s,
    ],
    ["a profile without an e-mail address", "profiles", [profile], /record 1, EmailAddress: /],
    [
      "a record that the table refuses",
      "qos-profiles",
      [{ name: "QOS_HUGE", status: "ACTIVE", description: "x".repeat(500_000) }],
      /\.json: record 1: could not be stored/,
    ],
    [
      "a phone number of two devices, without repeating it",
      "devices",
      [device, another],
      /^(?!.*\+34).*record 2, phoneNumber: the same as in record 1/s,
    ],
    [
      "a number that DynamoDB cannot hold, without repeating it",
      "profiles",
      [{ ...profile, ID: 1e300, EmailAddress: "x@example.com" }],
      /^(?!.*1e\+?300).*record 1, ID: /s,
    ],
  ] as const)("ncs import refuses %s", async (_, kind, records, message) => {
    const wanted = importKinds[kind] as ImportKind<z.ZodType>;
    await expect(importFile(wanted, await fileOf(records))).rejects.toThrow(message);
  });
});

describe("number assignments", () => {
  const phoneNumber = "+96123456789";
  const held = (from: string, to?: string) => ({ phoneNumber, subscriber: from, from, ...(to && { to }) });

  test.each([
    [
      "that share a day",
      [held("2020-01-01", "2021-01-01"), held("2021-01-01")],
      /record 2, from: shares days with record 1/,
    ],
    [
      "after an open one, in any order",
      [held("2022-01-01"), held("2020-01-01")],
      /record 1, from: shares days with record 2/,
    ],
    [
      "of one first day",
      [held("2020-01-01", "2020-02-01"), held("2020-01-01")],
      /record 2, from: the same as in record 1/,
    ],
    ["that end before they begin", [held("2020-02-01", "2020-01-31")], /record 1, to: is before from/],
    ["on a day that is not there", [held("2020-02-30")], /record 1, from: must be a date of the calendar/],
  ])("ncs import refuses number assignments %s, and names both records", async (_, records, message) => {
    await expect(importFile(importKinds["number-assignments"], await fileOf(records))).rejects.toThrow(
      message,
    );
  });

  test("ncs import names an assignment that cannot be stored by its record, not by its phone number", async () => {
    const other = "+96123456782";
    const records = [
      held("2020-01-01", "2020-02-01"),
      held("2021-01-01"),
      { ...held("2020-01-01"), phoneNumber: other },
    ];
    const { send } = DynamoDBClient.prototype;
    const spied = vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(function (
      this: DynamoDBClient,
      ...sent
    ) {
      if (JSON.stringify(sent[0].input).includes(other)) throw new TypeError("refused");
      return Reflect.apply(send, this, sent);
    });
    onTestFinished(() => spied.mockRestore());
    const importing = importFile(importKinds["number-assignments"], await fileOf(records));
    await expect(importing).rejects.toThrow(/\.json: record 3: could not be stored/);
  });
});

describe("a file with a record in each line", () => {
  const qosProfiles = importKinds["qos-profiles"];

  test("ncs import imports an NDJSON file and skips blank lines", async () => {
    // Other tests ask the service for its whole catalogue.
    await useOwnTable(qosProfilesTable);
    onTestFinished(() => void vi.unstubAllEnvs());
    const names = [crypto.randomUUID(), crypto.randomUUID()];
    const lines = names.map((name) => `\n${JSON.stringify({ name, status: "ACTIVE" })}\r\n`);
    const path = await fileOf(lines.join(""), "ndjson");
    expect(await importFile(qosProfiles, path)).toBe(2);
    for (const name of names) expect((await findQosProfile(name, signal))?.name).toBe(name);
  });

  test("ncs import refuses an NDJSON file and names the line that is not JSON", async () => {
    const path = await fileOf('{"name":"QOS_A","status":"ACTIVE"}\n\n{', "ndjson");
    await expect(importFile(qosProfiles, path)).rejects.toThrow(/\.ndjson: line 3: is not JSON/);
  });
});

test.each([
  [3e9, /minDuration\.value: must be between 1 and 2147483647$/],
  [1e20, /minDuration\.value: must be/],
  [2, /minDuration: exceeds its maximum$/],
])(
  "ncs import reports a minDuration of %d hours above a maxDuration of one hour once",
  async (value, problem) => {
    const [minDuration, maxDuration] = [value, 1].map((hours) => ({ value: hours, unit: "Hours" }));
    const path = await fileOf([{ name: "QOS_A", status: "ACTIVE", minDuration, maxDuration }]);
    const refused = await importFile(importKinds["qos-profiles"], path).catch((error) =>
      error.message.split("\n"),
    );
    expect(refused).toEqual([expect.stringMatching(problem)]);
  },
);

describe("problems of a file with many bad records", () => {
  const linesOf = async (kind: RecordKind, records: readonly unknown[]) => {
    const importing = importFile(importKinds[kind] as ImportKind<z.ZodType>, await fileOf(records));
    const error = await importing.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof ImportError)) throw new Error("the file was not refused", { cause: error });
    return error.message.split("\n").map((line) => line.replace(/^[^:]*\.json: /, ""));
  };

  test.each([
    ["qos-profiles", "status"],
    ["devices", "subscription"],
    ["number-assignments", "phoneNumber"],
    ["profiles", "EmailAddress"],
    ["clients", "clientId"],
  ] as const)(
    "ncs import tells of 1,000 %s without %s in one line with their number",
    async (kind, field) => {
      const [record] = JSON.parse(readFileSync(`tools/demo/${recordFiles[kind]}`, "utf8"));
      const lines = await linesOf(
        kind,
        Array.from({ length: 1_000 }, () => ({ ...record, [field]: undefined })),
      );
      expect(lines).toEqual([`1,000 records: ${field}: is missing, first in record 1`]);
    },
  );

  test("ncs import tells of 999 records with the name of the first one in one line", async () => {
    const records = Array.from({ length: 1_000 }, () => ({ name: "QOS_A", status: "ACTIVE" }));
    expect(await linesOf("qos-profiles", records)).toEqual([
      "999 records: name: the same as in record 1, first in record 2",
    ]);
  });

  test("ncs import names twenty different problems in the order of their records, and says that there may be more", async () => {
    const records = Array.from({ length: 100 }, (_, index) => ({
      name: `QOS_${index}`,
      status: "ACTIVE",
      [`wrong${index}`]: 1,
    }));
    const lines = await linesOf("qos-profiles", records);
    expect(lines.map((line) => line.replace(/; did you mean.*/, ""))).toEqual([
      ...Array.from({ length: 20 }, (_, index) => `record ${index + 1}, wrong${index}: unknown field`),
      "there may be more problems: the check stops after 20 different ones",
    ]);
  });
});

test("problems that are added in any order are told by the first record, and in the order of records", () => {
  const problems = new Problems(["devices.json"], "record");
  problems.add(0, "is missing", 900, "imei");
  problems.add(0, "is missing", 300, "imei");
  problems.add(0, "is missing", 20, "phoneNumber");
  expect(() => problems.refuse()).toThrow(
    "devices.json: record 20, phoneNumber: is missing\ndevices.json: 2 records: imei: is missing, first in record 300",
  );
});

describe("what contradicts the tables is refused before anything is written", () => {
  const unique = () => `+95${String(Math.random()).slice(2, 12)}`;

  test("ncs import refuses a phone number of another subscription and writes nothing", async () => {
    const owner = { ...plainDevice, subscription: crypto.randomUUID(), phoneNumber: unique() };
    await importFile(importKinds.devices, await fileOf([owner]));
    const innocent = { ...plainDevice, subscription: crypto.randomUUID(), phoneNumber: unique() };
    const thief = { ...owner, subscription: crypto.randomUUID() };

    const importing = importFile(importKinds.devices, await fileOf([innocent, thief]));

    await expect(importing).rejects.toThrow(/record 2, phoneNumber: belongs to another subscription/);
    expect(await findDevice(phoneIdentifier(innocent.phoneNumber), signal)).toBeUndefined();
    expect((await findDevice(phoneIdentifier(owner.phoneNumber), signal))?.subscription).toBe(
      owner.subscription,
    );
  });

  test("ncs import moves a phone number to another subscription when its owner gives it up in the same file", async () => {
    const before = { ...plainDevice, subscription: crypto.randomUUID(), phoneNumber: unique() };
    await importFile(importKinds.devices, await fileOf([before]));
    const next = { ...plainDevice, subscription: crypto.randomUUID(), phoneNumber: before.phoneNumber };

    await importFile(importKinds.devices, await fileOf([next, { ...before, phoneNumber: unique() }]));

    const found = await findDevice(phoneIdentifier(before.phoneNumber), signal);
    expect(found?.subscription).toBe(next.subscription);
  });

  test("ncs import refuses the e-mail address of another profile", async () => {
    const EmailAddress = `${crypto.randomUUID()}@example.com`;
    const profile = {
      ID: 1,
      Username: "x",
      DateCreated: "2026-01-01T00:00:00Z",
      IsProfilePublic: true,
      EmailAddress,
    };
    await importFile(importKinds.profiles, await fileOf([profile]));
    const importing = importFile(importKinds.profiles, await fileOf([{ ...profile, ID: 2 }]));
    await expect(importing).rejects.toThrow(/record 1, EmailAddress: belongs to another profile/);
  });
});
