import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { historyOf } from "../../functions/number-recycling/store.ts";
import { getItems } from "../../shared/aws/database.ts";
import { withPatientCalls } from "../../shared/aws/patient-calls.ts";
import { keysOf, phoneIdentifier } from "../../shared/devices/keys.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { findDevice } from "../../shared/devices/store.ts";
import { devices as devicesTable } from "../../shared/devices/table.ts";
import { importKinds } from "../../tools/import/data-folder.ts";
import { importFile } from "../../tools/import/import-file.ts";
import { useTables } from "../support/database.ts";
import { plainDevice } from "../support/device.ts";
import { type FaultyEndpoint, openFaultyEndpoint } from "../support/faulty-endpoint.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const signal = AbortSignal.timeout(600_000);
const folder = useOwnFolder();
let endpoint: FaultyEndpoint;
beforeAll(async () => {
  useTables();
  endpoint = await openFaultyEndpoint(sharedService.databaseEndpoint);
});
afterAll(() => endpoint.close());
afterEach(() => {
  endpoint.inject();
  vi.unstubAllEnvs();
});

const overThisEndpoint = () => vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint.url);

/** Imports over this endpoint. What reads the tables afterwards goes around it: the process keeps its client. */
async function importedOverThisEndpoint(...file: Parameters<typeof importFile>): Promise<number> {
  overThisEndpoint();
  try {
    return await withPatientCalls(() => importFile(...file));
  } finally {
    vi.unstubAllEnvs();
  }
}

const fileOf = (lines: readonly unknown[]) =>
  folder.write(`${crypto.randomUUID()}.ndjson`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

let last = 0;
const number = () => `+9${process.pid % 1_000}${String(++last).padStart(6, "0")}`;
const deviceOf = (phoneNumber: string): DeviceRecord => ({
  ...plainDevice,
  subscription: crypto.randomUUID(),
  phoneNumber,
});

/** Throttles three calls in ten, in every way in which DynamoDB does it. */
function throttle(): void {
  let calls = 0;
  endpoint.inject(({ operation }) => {
    const turn = calls++ % 10;
    const isBatch = operation === "BatchWriteItem" || operation === "BatchGetItem";
    if (turn === 0) return { refuse: { status: 400, name: "ProvisionedThroughputExceededException" } };
    if (turn === 3) return { refuse: { status: 400, name: "ThrottlingException" } };
    if (turn === 6 && !isBatch) return { refuse: { status: 400, name: "RequestLimitExceeded" } };
    if (turn === 6) return operation === "BatchWriteItem" ? { writeItems: 3 } : { readKeys: 3 };
    return "pass";
  });
}

describe("an import of which three in ten calls are throttled", () => {
  test("an import of devices is complete when calls are throttled, the first time and again", async () => {
    const devices = Array.from({ length: 120 }, () => deviceOf(number()));
    const path = await fileOf(devices);
    throttle();
    const before = endpoint.faultCount();

    for (const _ of ["first", "again"]) {
      expect(await importedOverThisEndpoint(importKinds.devices, path)).toBe(devices.length);
    }

    expect(endpoint.faultCount() - before).toBeGreaterThan(10);
    for (const device of devices) expect(keysOf(device)).toHaveLength(2);
    const keys = devices.map(({ phoneNumber = "" }) => ({ identifier: phoneIdentifier(phoneNumber).key }));
    const found = await getItems(devicesTable, keys, signal);
    const byNumber = new Map(found.map((device) => [device.phoneNumber, device]));
    expect(devices.map(({ phoneNumber }) => byNumber.get(phoneNumber))).toEqual(devices);
  });

  test("an import of number assignments is complete when calls are throttled and histories shorten", async () => {
    const held = (phoneNumber: string, from: string, to?: string) => ({
      phoneNumber,
      subscriber: "s",
      from,
      ...(to && { to }),
    });
    const numbers = Array.from({ length: 12 }, number);
    const path = await fileOf(
      numbers.flatMap((of) => [held(of, "2020-01-01", "2020-12-31"), held(of, "2021-01-01")]),
    );
    const shorter = await fileOf(numbers.map((of) => held(of, "2021-01-01")));
    throttle();

    await importedOverThisEndpoint(importKinds["number-assignments"], path);
    await importedOverThisEndpoint(importKinds["number-assignments"], shorter);

    for (const of of numbers) expect(await historyOf(of, signal)).toEqual([held(of, "2021-01-01")]);
  });

  test("an import of devices is complete when responses are lost", async () => {
    const devices = Array.from({ length: 30 }, () => deviceOf(number()));
    const path = await fileOf(devices);
    let calls = 0;
    endpoint.inject(() => (calls++ % 5 === 0 ? "lose" : "pass"));

    await importedOverThisEndpoint(importKinds.devices, path);

    for (const { phoneNumber = "", subscription } of devices) {
      expect((await findDevice(phoneIdentifier(phoneNumber), signal))?.subscription).toBe(subscription);
    }
  });
});

test("one of two concurrent imports of a phone number is refused, as the other has written it", async () => {
  const phoneNumber = number();
  const paths = await Promise.all(
    [deviceOf(phoneNumber), deviceOf(phoneNumber)].map((device) => fileOf([device])),
  );

  const ends = await Promise.allSettled(paths.map((path) => importFile(importKinds.devices, path)));

  // The second one sees what the first one wrote.
  expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const refused = ends.find((end) => end.status === "rejected");
  expect(String(refused?.reason)).toContain("record 1, phoneNumber: belongs to another subscription");
});
