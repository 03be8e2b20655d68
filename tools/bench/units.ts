import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { hoursIn, spansOf } from "../../functions/population-density/tiles/span.ts";
import {
  observedDay,
  replaceSpan,
  tileName,
  typicalDay,
} from "../../functions/population-density/tiles/store.ts";
import { encodeTileDay } from "../../functions/population-density/tiles/tile.ts";
import { functionRecords } from "../../infra/functions.ts";
import { dayOf as dateOf, hourMilliseconds } from "../../shared/calendar.ts";
import { makeAssembly } from "../assembly.ts";
import { startDemoService } from "../local/demo-service.ts";
import { demoData } from "../local/demo-tables.ts";
import { embeddedCredentials } from "../local/servers/backing-server.ts";
import { openDatabase } from "../local/servers/database.ts";
import type { LocalService } from "../local/service.ts";
import type { Bench, Row } from "./bench.ts";
import { dayOf } from "./city-densities.ts";
import { type CountingStore, openCountingStore, type Units } from "./counting-store.ts";
import { cityRing, coverOfCity, precision } from "./density-cover.ts";

/** What a request takes of DynamoDB and of the function's CPU. */
export const units: Bench = {
  about: [
    "What a request takes of DynamoDB, as the embedded one counts it. “Cold” is the first request of an execution",
    "environment for this device, profile or area, “warm” the next one within `CACHE_SECONDS`. USD are for a million of",
    "such requests at 0.125 per million read units and 0.625 per million write units; nothing else is included.",
    "The city has 51 tiles at precision 7, each stored dense (83 KB a day) for the weekday and the date of a past hour.",
    "CPU is the user and system time of a process that reads these items, and writes and compresses their answer,",
    "without a cache (`tools/bench/city-cpu.ts`): the least of 15, as other programs only add to it. A second of a",
    "function has its memory / 1,769 MB of a CPU. The limit is scaled from what was measured of a tile × day and of a slot.",
  ].join("\n"),
  run: async () => {
    const { assembly, remove } = await makeAssembly();
    const store = await openDatabase(undefined);
    const counting = await openCountingStore(store.endpoint);
    const { accessKeyId, secretAccessKey } = embeddedCredentials;
    const service = await startDemoService({
      assembly,
      environment: {
        AWS_ENDPOINT_URL_DYNAMODB: counting.url,
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
      },
      port: 0,
      data: demoData,
      logs: { write: () => true },
    });
    try {
      useTablesOf(service, store.endpoint);
      await storeCity();
      return [...(await unitRows(service.url, counting)), ...(await cpuRows())];
    } finally {
      await service.close();
      await counting.close();
      await store.close();
      remove();
    }
  },
};

/** Lets the stores of this process, and of those it starts, use the tables of a service. */
function useTablesOf({ template, environmentOf }: LocalService, endpoint: string): void {
  const variables = template.functions.flatMap(({ logicalId }) => Object.entries(environmentOf(logicalId)));
  const needed = variables.filter(([name]) => /^(?:TABLE_|AWS_(?!LAMBDA_))/.test(name));
  Object.assign(process.env, Object.fromEntries(needed), { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
}

const pastHour = new Date((Math.floor(Date.now() / hourMilliseconds) - 30) * hourMilliseconds);
const toCome = new Date((Math.floor(Date.now() / hourMilliseconds) + 1) * hourMilliseconds);

async function storeCity(): Promise<void> {
  const days = [typicalDay(pastHour.getUTCDay() || 7), observedDay(dateOf(pastHour))];
  const made = [0, 1, 2, 3].map((tile) => dayOf(tile));
  for (const [index, { geohash }] of coverOfCity().entries()) {
    const hours = made[index % made.length] ?? [];
    const tile = tileName(precision, geohash);
    for (const span of days.flatMap(spansOf)) {
      const item = { tile, day: span, hours: encodeTileDay(hoursIn(span, hours)) };
      await replaceSpan(item, undefined, AbortSignal.timeout(60_000));
    }
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

/** Read units of a dense tile on a day: 83 KB eventually consistent. */
const tileUnits = 10.5;
const cityItems = 102;

const asks: readonly Ask[] = [
  {
    what: "QoS profile by name",
    path: "/qualityondemand/qos-profiles/QOS_E",
    maxReads: { cold: 0.5, warm: 0 },
  },
  {
    what: "QoS profiles of a device",
    path: "/qualityondemand/retrieve-qos-profiles",
    body: { device },
    maxReads: { cold: 2, warm: 1 },
  },
  {
    what: "number recycling",
    path: "/numberrecycling/check",
    body: { phoneNumber: "+34600000012", specifiedDate: "2023-12-22" },
    maxReads: { cold: 2, warm: 2 },
  },
  {
    what: "device identifier",
    path: "/deviceidentifier/retrieve-identifier",
    body: { device },
    maxReads: { cold: 1, warm: 1 },
  },
  {
    what: "densities of 9 cells, two hours to come",
    path: densities,
    body: { area: { areaType: "POLYGON", boundary: block }, ...period(toCome, 2) },
    maxReads: { cold: 2 * tileUnits, warm: 0 },
  },
  {
    what: "densities of a city, a past hour",
    path: densities,
    body: { area: { areaType: "POLYGON", boundary: cityRing }, ...period(pastHour, 1), precision },
    maxReads: { cold: cityItems * tileUnits, warm: 0 },
  },
];

async function unitRows(url: string, counting: CountingStore): Promise<Row[]> {
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
  for (const ask of asks) {
    for (const kind of ["cold", "warm"] as const) {
      rows.push(unitRow(`${ask.what}: ${kind}`, await takenBy(ask), ask.maxReads[kind]));
    }
  }
  return rows;
}

const loggedIn = z.object({ Data: z.object({ access_token: z.string() }) });

async function login(url: string): Promise<string> {
  const body = JSON.stringify({ emailaddress: "app@example.com", password: "correct horse battery staple" });
  const response = await fetch(`${url}/v3/profile/authenticate`, { method: "POST", body });
  return loggedIn.parse(await response.json()).Data.access_token;
}

function unitRow(what: string, { reads, writes }: Units, maxReads: number): Row {
  const dollars = (0.125 * reads + 0.625 * writes).toFixed(2);
  return {
    what,
    measured: `${reads} read, ${writes} write, USD ${dollars}`,
    bar: `≤ ${maxReads} read`,
    holds: reads <= maxReads,
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
  const program = fileURLToPath(new URL("city-cpu.ts", import.meta.url));
  const parameters = ["--import", "tsx", program, pastHour.toISOString()];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  const measured = cpu.parse(JSON.parse(stdout));
  const { readMilliseconds, writeMilliseconds, slots, bytes, compressedBytes } = measured;
  const perItem = readMilliseconds / cityItems;
  const atLimit = perItem * limits.tileDays + (writeMilliseconds * limits.slots) / slots;
  const { memoryMegabytes = Number.NaN } = functionRecords["population-density/retrieve"];
  const second = (1_000 * memoryMegabytes) / 1_769;
  return [
    shown("city: answer", `${megabytes(bytes)}, compressed ${megabytes(compressedBytes)}`),
    shown("CPU to read a tile × day", `${perItem.toFixed(2)} ms`),
    shown("CPU to write and compress the city's answer", `${writeMilliseconds.toFixed(0)} ms`),
    {
      what: `CPU of ${limits.tileDays} tiles × days and ${limits.slots.toLocaleString("en")} slots`,
      measured: `${atLimit.toFixed(0)} ms`,
      bar: `≤ ${second.toFixed(0)} ms`,
      holds: atLimit <= second,
    },
  ];
}

function shown(what: string, measured: string): Row {
  return { what, measured, holds: true };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
