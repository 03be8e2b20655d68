import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import { demoLogins } from "../../tools/demo-logins.ts";
import { spawnNcs } from "../support/ncs.ts";
import { type NpmProgram, npm } from "../support/npm.ts";
import { isLong } from "../support/sample.ts";
import { openSink, type TestSink } from "../support/sink.ts";

/** Workers of the queue: so many answers can be under way when the program is killed. */
const workers = 10;

let folder: TemporaryFolder;
let sink: TestSink;
let program: NpmProgram | undefined;
beforeEach(async () => {
  folder = temporaryFolder("kept-start-");
  sink = await openSink();
});
afterEach(async () => {
  program?.remove();
  await sink.close();
  folder.remove();
});

/**
 * Runs `npm start` on the folder. Returns its address when it can answer.
 * @param before the address of the start before: the address is the issuer of tokens, so only there do they stay valid.
 */
async function start(retrySeconds: string, before?: string): Promise<string> {
  const port = before === undefined ? "0" : new URL(before).port;
  const args = ["start", "--silent", "--", "--port", port, "--keep", join(folder.path, "kept")];
  program = npm(args, {
    DENSITY_PENDING_LIMIT: "100",
    RATE_LIMIT_PER_MINUTE: "1000000",
    SINK_RETRY_SECONDS: retrySeconds,
  });
  await expect.poll(program.output, { timeout: 100_000 }).toContain("\n");
  return /^Listening on (\S+)\n$/.exec(program.output())?.[1] ?? "";
}

/** `kill -9` of everything that `npm start` has started. */
async function kill(): Promise<void> {
  program?.remove();
  await program?.ended;
}

async function tokenOf(url: string, { EmailAddress, password }: ReturnType<typeof demoLogins>[number]) {
  const body = JSON.stringify({ emailaddress: EmailAddress, password });
  const response = await fetch(`${url}/v3/profile/authenticate`, { method: "POST", body });
  const loggedIn = z.object({ Data: z.object({ access_token: z.string() }) });
  return loggedIn.parse(await response.json()).Data.access_token;
}

const hour = 3_600_000;
const firstHour = (Math.floor(Date.now() / hour) + 1) * hour;

/** An order of an answer, which is the same operation however often it is sent. */
interface Order {
  readonly token: string;
  readonly sink: string;
  readonly key: string;
}

/** Sends an order until it is accepted, as a caller does. Returns the operation's id. */
async function place(url: () => string, order: Order): Promise<string> {
  for (;;) {
    const operationId = await send(url(), order);
    if (operationId !== undefined) return operationId;
    await wait(100);
  }
}

/** Returns the operation's id; undefined when the service is killed before it answers, or is too busy. */
async function send(url: string, { token, sink, key }: Order): Promise<string | undefined> {
  const boundary = [
    { latitude: 45.752, longitude: 4.86 },
    { latitude: 45.752, longitude: 4.864 },
    { latitude: 45.755, longitude: 4.862 },
  ];
  const body = JSON.stringify({
    area: { areaType: "POLYGON", boundary },
    startTime: new Date(firstHour).toISOString(),
    endTime: new Date(firstHour + hour).toISOString(),
    sink,
  });
  const headers = { authorization: `Bearer ${token}`, "idempotency-key": key };
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${url}/populationdensitydata/retrieve`, { method: "POST", headers, body });
    status = response.status;
    text = await response.text();
  } catch (error) {
    // The service may be killed before its answer, and amid it.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  if (status >= 500) return undefined;
  expect(status).toBe(202);
  return z.object({ operationId: z.string() }).parse(JSON.parse(text)).operationId;
}

const page = z.object({
  operations: z.array(
    z.object({ operationId: z.string(), state: z.string(), nextAttemptAt: z.string().optional() }),
  ),
  nextPageToken: z.string().optional(),
});

/** All operations of a caller. */
async function operationsOf(url: string, token: string) {
  const operations: z.output<typeof page>["operations"] = [];
  let pageToken: string | undefined;
  do {
    const query = new URLSearchParams({ perPage: "50", ...(pageToken === undefined ? {} : { pageToken }) });
    const response = await fetch(`${url}/populationdensitydata/operations?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    const read = page.parse(await response.json());
    operations.push(...read.operations);
    pageToken = read.nextPageToken;
  } while (pageToken !== undefined);
  return operations;
}

/** How often each operation was acknowledged by the sink. */
function deliveries(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { body, answer } of sink.received()) {
    if (typeof answer !== "object" || answer.status !== 204) continue;
    const { operationId } = JSON.parse(body);
    counts.set(operationId, (counts.get(operationId) ?? 0) + 1);
  }
  return counts;
}

const [application] = demoLogins();
const callers = demoLogins().filter(({ Permissions }) =>
  Permissions.includes("population-density-data:read"),
);

test("npm start --keep after kill -9 delivers every accepted request and keeps tokens and imported data", async () => {
  if (application === undefined) throw new Error("no login");
  const first = await start("10,2,2,2,2,2,2");
  const token = await tokenOf(first, application);
  const profiles = join(folder.path, "qos-profiles.json");
  writeFileSync(profiles, JSON.stringify([{ name: "QOS_KEPT", status: "ACTIVE" }]));
  const imported = await spawnNcs(["import", "qos-profiles", profiles, "--local", new URL(first).port]);
  expect(imported).toMatchObject({ code: 0 });
  const orders = Array.from({ length: 8 }, () => ({
    token,
    sink: sink.urlOf({ status: 503 }, { status: 204 }),
    key: crypto.randomUUID(),
  }));
  const accepted = await Promise.all(orders.map((order) => place(() => first, order)));
  const isHidden = async () =>
    (await operationsOf(first, token)).every(({ nextAttemptAt }) => nextAttemptAt !== undefined);
  await expect.poll(isHidden, { timeout: 60_000 }).toBe(true);
  // A worker hides its message a moment after it has recorded the attempt. A message that a killed worker still had
  // would be due again only when that worker's time is over, after minutes.
  await wait(2_000);
  await kill();

  const second = await start("2,2,2,2,2,2,2", first);

  const headers = { authorization: `Bearer ${token}` };
  const kept = await fetch(`${second}/qualityondemand/qos-profiles/QOS_KEPT`, { headers });
  expect(kept.status).toBe(200);
  const once = new Map(accepted.map((operationId) => [operationId, 1]));
  await expect.poll(deliveries, { timeout: 500_000 }).toEqual(once);
  const states = async () => (await operationsOf(second, token)).map(({ state }) => state);
  await expect.poll(states).toEqual(accepted.map(() => "DELIVERED"));
}, 800_000);

test.runIf(isLong)(
  "npm start --keep delivers all of 200 requests when it is killed twice",
  async () => {
    const retrySeconds = "1,2,5,5,5,10,10,10,30,30,30,60,60";
    let url = await start(retrySeconds);
    const tokens = await Promise.all(callers.map((caller) => tokenOf(url, caller)));
    const sinks = [
      () => sink.urlOf({ status: 204 }),
      () => sink.urlBy(() => ({ status: 204, after: wait(2_000) })),
      () => sink.urlOf({ status: 503 }, { status: 204 }),
    ];
    const orders = Array.from({ length: 200 }, (_, index) => ({
      token: tokens[index % tokens.length] ?? "",
      sink: sinks[Math.floor(index / tokens.length) % sinks.length]?.() ?? "",
      key: crypto.randomUUID(),
    }));

    const accepted = new Map<Order, string>();
    const left = [...orders];
    const placeNext = async (): Promise<void> => {
      const order = left.shift();
      if (order === undefined) return;
      accepted.set(order, await place(() => url, order));
      await placeNext();
    };
    const sending = Promise.all(Array.from({ length: 8 }, placeNext));
    const restart = async () => {
      await kill();
      url = await start(retrySeconds, url);
    };
    await expect.poll(() => accepted.size, { timeout: 120_000 }).toBeGreaterThan(70);
    expect(accepted.size).toBeLessThan(orders.length);
    await restart();
    await sending;
    // Workers that were killed keep their permits until their time is over, as on AWS: nothing may go until then.
    await expect.poll(() => deliveries().size, { timeout: 600_000 }).toBeGreaterThan(80);
    expect(deliveries().size).toBeLessThan(orders.length);
    await restart();

    const ids = new Set(accepted.values());
    expect(ids.size).toBe(orders.length);
    await expect.poll(() => deliveries().size, { timeout: 900_000, interval: 1_000 }).toBe(ids.size);
    const all = async () => (await Promise.all(tokens.map((token) => operationsOf(url, token)))).flat();
    const ended = async () => (await all()).filter(({ state }) => state === "DELIVERED").length;
    await expect.poll(ended, { timeout: 900_000, interval: 2_000 }).toBe(orders.length);

    // Orders that were sent again are the same operations, and only what was under way is delivered again.
    expect(new Set((await all()).map(({ operationId }) => operationId))).toEqual(ids);
    const repeated = [...deliveries().values()].filter((times) => times > 1);
    expect(repeated.length).toBeLessThanOrEqual(2 * workers);
    expect(Math.max(1, ...repeated)).toBeLessThanOrEqual(3);
  },
  2_400_000,
);
