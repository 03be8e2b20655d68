import * as z from "zod";
import { hoursIn, spansOf } from "../../functions/population-density/tiles/span.ts";
import {
  createSpans,
  observedDay,
  tileName,
  typicalDay,
} from "../../functions/population-density/tiles/store.ts";
import { encodeTileDay } from "../../functions/population-density/tiles/tile.ts";
import { functionRecords } from "../../infra/functions.ts";
import { dayOf as dateOf, hourMilliseconds } from "../../shared/calendar.ts";
import { getOrCreatePseudonymKey } from "../../shared/pseudonym-keys/key.ts";
import { demoData } from "../import/data-files.ts";
import { startDemoService } from "../local/demo-service.ts";
import { embeddedCredentials } from "../local/servers/backing-server.ts";
import { openDatabase } from "../local/servers/database.ts";
import type { LocalService } from "../local/service.ts";
import { storeEnvironment } from "../local/store-environment.ts";
import { atMost, inUnit, type Row, shown } from "./bench.ts";
import { dayOf } from "./city-densities.ts";
import { cityRing, coverOfCity, precision } from "./density-cover.ts";
import { login } from "./local-service.ts";
import { type MeteredDatabase, openMeteredDatabase, type Units } from "./metered-database.ts";
import { forkProgram, resultOf } from "./process.ts";

/** What is measured by `unitRows`. */
export const aboutUnits = [
  "Units are what the first request of an execution environment takes of DynamoDB, as the embedded one counts it, and what",
  "a warm one reads within `CACHE_SECONDS`. USD are for a million first requests at 0.125 per million read units and 0.625",
  "per million write units. The city has 51 dense tiles at precision 7 (83 KB a day).",
  "CPU is that of a process that reads the city's items, and writes and compresses its answer, scaled to the limits of a",
  "request: the least of 15. The limit is a second of the function, which has its memory / 1,769 MB of a CPU.",
].join("\n");

/** What a request takes of DynamoDB, and of the function's CPU. */
export async function unitRows(): Promise<readonly Row[]> {
  const store = await openDatabase(undefined);
  const counting = await openMeteredDatabase(store.endpoint);
  const { accessKeyId, secretAccessKey } = embeddedCredentials;
  const service = await startDemoService({
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: counting.url,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    // Units are counted, so other load on the machine does not matter.
    extraEnvironment: { DEADLINE_FACTOR: "10" },
    port: 0,
    data: demoData,
    logs: { write: () => true },
  });
  try {
    useTablesOf(service, store.endpoint);
    // The first record of a stage makes the key, which the cold requests that are measured read.
    await getOrCreatePseudonymKey("access-records", AbortSignal.timeout(60_000));
    await storeCity();
    return [...(await requestRows(service.url, counting)), ...(await cpuRows())];
  } finally {
    await service.close();
    await counting.close();
    await store.close();
  }
}

/** Lets the stores of this process, and of those it starts, use the tables of a service. */
function useTablesOf(service: LocalService, endpoint: string): void {
  Object.assign(process.env, storeEnvironment(service), { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
}

const pastHour = new Date((Math.floor(Date.now() / hourMilliseconds) - 30) * hourMilliseconds);
const toCome = new Date((Math.floor(Date.now() / hourMilliseconds) + 2) * hourMilliseconds);

async function storeCity(): Promise<void> {
  const days = [typicalDay(pastHour.getUTCDay() || 7), observedDay(dateOf(pastHour))];
  const made = [0, 1, 2, 3].map((tile) => dayOf(tile));
  for (const [index, { geohash }] of coverOfCity().entries()) {
    const hours = made[index % made.length] ?? [];
    const tile = tileName(precision, geohash);
    const items = days.flatMap(spansOf).map((span) => ({
      tile,
      day: span,
      hours: encodeTileDay(hoursIn(span, hours)),
    }));
    await createSpans(items, AbortSignal.timeout(60_000));
  }
}

interface Ask {
  readonly what: string;
  readonly path: string;
  readonly body?: unknown;
  readonly maxReads: { readonly cold: number; readonly warm: number };
}

const period = (start: Date, hours: number) => ({
  startTime: start.toISOString(),
  endTime: new Date(start.getTime() + hours * hourMilliseconds).toISOString(),
});
const device = { phoneNumber: "+34600000001" };
const block = [
  { latitude: 45.754114, longitude: 4.860374 },
  { latitude: 45.753845, longitude: 4.863185 },
  { latitude: 45.751224, longitude: 4.861125 },
];
const densities = "/populationdensitydata/retrieve";

/** Read units of a dense tile in four hours: 14 KB eventually consistent. */
const tileUnits = 2;
const cityItems = 102;

const asks: readonly Ask[] = [
  {
    what: "a QoS profile by name",
    path: "/qualityondemand/qos-profiles/QOS_E",
    maxReads: { cold: 0.5, warm: 0 },
  },
  {
    what: "QoS profiles of a device",
    path: "/qualityondemand/retrieve-qos-profiles",
    body: { device },
    maxReads: { cold: 2.5, warm: 1 },
  },
  {
    what: "number recycling",
    path: "/numberrecycling/check",
    body: { phoneNumber: "+34600000012", specifiedDate: "2023-12-22" },
    maxReads: { cold: 3, warm: 2 },
  },
  {
    what: "a device identifier",
    path: "/deviceidentifier/retrieve-identifier",
    body: { device },
    maxReads: { cold: 2, warm: 1 },
  },
  {
    what: "densities of 9 cells, two hours to come",
    path: densities,
    body: { area: { areaType: "POLYGON", boundary: block }, ...period(toCome, 2) },
    maxReads: { cold: 4 * tileUnits, warm: 0 },
  },
  {
    what: "densities of the city, a past hour",
    path: densities,
    body: { area: { areaType: "POLYGON", boundary: cityRing }, ...period(pastHour, 1), precision },
    maxReads: { cold: cityItems * tileUnits, warm: 0 },
  },
];

async function requestRows(url: string, counting: MeteredDatabase): Promise<Row[]> {
  const token = await login(url);
  const takenBy = async ({ path, body }: Pick<Ask, "path" | "body">) => {
    counting.taken();
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, "accept-encoding": "gzip" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} is ${response.status}: ${text.slice(0, 200)}`);
    return counting.taken();
  };
  // Opens the caller's quota and lets the gateway keep the token's policy.
  await takenBy({ path: "/qualityondemand/qos-profiles/QOS_S" });
  const rows: Row[] = [];
  for (const ask of asks) rows.push(unitRow(ask, await takenBy(ask), await takenBy(ask)));
  return rows;
}

const units = inUnit("read", 1);

function unitRow({ what, maxReads }: Ask, cold: Units, warm: Units): Row {
  const row = atMost(`units of ${what}`, cold.reads, maxReads.cold, units);
  const dollars = (0.125 * cold.reads + 0.625 * cold.writes).toFixed(2);
  return {
    ...row,
    measured: `${row.measured}, warm ${warm.reads}, ${cold.writes} write, USD ${dollars}`,
    ...(row.bar === undefined ? {} : { bar: `${row.bar}, warm ${maxReads.warm}` }),
    holds: row.holds && warm.reads <= maxReads.warm,
  };
}

const cpu = z.object({
  readMilliseconds: z.number(),
  writeMilliseconds: z.number(),
  slots: z.number(),
  bytes: z.number(),
  compressedBytes: z.number(),
});

/** The limits that the function's CPU must bear: `maxTileDays` and `DENSITY_SYNC_LIMIT`. */
const limits = { tileDays: 600, slots: 40_000 };

async function cpuRows(): Promise<Row[]> {
  const measured = await resultOf(forkProgram("city-cpu.ts", [pastHour.toISOString()], process.env), cpu);
  const { readMilliseconds, writeMilliseconds, slots, bytes, compressedBytes } = measured;
  const perItem = readMilliseconds / cityItems;
  const atLimit = perItem * limits.tileDays + (writeMilliseconds * limits.slots) / slots;
  const { memoryMegabytes = Number.NaN } = functionRecords["population-density/retrieve"];
  const second = (1_000 * memoryMegabytes) / 1_769;
  return [
    shown(
      "the city's answer",
      `${decimals(bytes / 1e6)} MB, ${decimals(compressedBytes / 1e6)} MB compressed`,
    ),
    shown("CPU to read four hours of a tile", `${decimals(perItem)} ms`),
    shown("CPU to write and compress the city's answer", `${writeMilliseconds.toFixed(0)} ms`),
    atMost(
      `CPU of an hour of ${limits.tileDays} tiles × days and ${limits.slots.toLocaleString("en")} slots`,
      atLimit,
      second,
      inUnit("ms"),
    ),
  ];
}

const decimals = (value: number) => value.toFixed(2);
