import { createPrivateKey } from "node:crypto";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { TableName } from "../../../functions/areas.ts";
import { retrievePopulationDensity } from "../../../functions/population-density/contract.ts";
import { itemOf } from "../../../functions/population-density/delivery/job.ts";
import { encodeTileDay } from "../../../functions/population-density/tiles/tile.ts";
import { TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";
import { queueClient } from "../../../tools/local/servers/queue-server.ts";
import { call, claimsOf, tokenWith } from "../../support/client.ts";
import { boxIn, cellIn, freshTile, typicalSpans } from "../../support/densities.ts";
import { deliveredBody, requestIn, storedJob } from "../../support/jobs.ts";
import { functionOf, type OwnService, startOwnService } from "../../support/own-service.ts";
import { seeded } from "../../support/random.ts";
import { runs } from "../../support/sample.ts";
import { sharedService } from "../../support/service.ts";
import { signedBy, tokenOf } from "../../support/signed.ts";
import { openSink, type SinkAnswer, type TestSink } from "../../support/sink.ts";
import { someJob } from "../../support/some-job.ts";
import { useRequestAndSink } from "../../support/use-harness.ts";

const path = "/populationdensitydata/retrieve";
const scope = "population-density-data:read";
const patiently = { timeout: 30_000 };

describe("a request with a sink", () => {
  const { request, sink } = useRequestAndSink();

  async function ask(body: unknown, { client = crypto.randomUUID(), headers = {} } = {}) {
    const token = await tokenWith({ scope, sub: client, client_id: client });
    return await call(path, { method: "POST", body, token, headers });
  }

  async function accepted(...parameters: Parameters<typeof ask>): Promise<string> {
    const { status, body } = await ask(...parameters);
    expect(status).toBe(202);
    expect(Object.keys(z.looseObject({}).parse(body))).toEqual(["operationId"]);
    return retrievePopulationDensity.responses[202].parse(body).operationId;
  }

  async function synchronousText(): Promise<string> {
    const response = await fetch(`${sharedService.url}${path}`, {
      method: "POST",
      body: JSON.stringify(request()),
      headers: { authorization: `Bearer ${await tokenWith({ scope })}`, "accept-encoding": "identity" },
    });
    expect(response.status).toBe(200);
    return await response.text();
  }

  test("POST /retrieve with a sink returns an id, and the sink gets the synchronous answer with that id", async () => {
    const url = sink().urlOf();
    const sinkCredential = {
      credentialType: "ACCESSTOKEN",
      accessToken: "a~token!",
      accessTokenType: "Bearer",
    };
    const headers = { "x-correlator": "delivery-1" };

    const operationId = await accepted({ ...request(), sink: url, sinkCredential }, { headers });

    await expect.poll(() => sink().received(url), patiently).toHaveLength(1);
    const [delivery] = sink().received(url);
    expect(delivery?.body).toBe(deliveredBody(operationId, await synchronousText()));
    expect(retrievePopulationDensity.responses[200].parse(JSON.parse(delivery?.body ?? "")).status).toBe(
      "SUPPORTED_AREA",
    );
    expect(delivery?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer a~token!",
      "x-correlator": "delivery-1",
      "webhook-id": operationId,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
    });
    await expect
      .poll(async () => await storedJob(operationId), patiently)
      .toMatchObject({ state: "delivered" });
    const stored = (await storedJob(operationId)) ?? {};
    expect(stored).not.toHaveProperty("sink");
    expect(stored).not.toHaveProperty("accessToken");
  });

  test("POST /retrieve without x-correlator delivers with the correlator of its response", async () => {
    const url = sink().urlOf();
    const { headers } = await ask({ ...request(), sink: url });
    await expect.poll(() => sink().received(url), patiently).toHaveLength(1);
    expect(sink().received(url)[0]?.headers["x-correlator"]).toBe(headers.get("x-correlator"));
    expect(sink().received(url)[0]?.headers).not.toHaveProperty("authorization");
  });

  test("POST /retrieve with one idempotency key returns one id and delivers once, however often it is sent", async () => {
    const url = sink().urlOf();
    const body = { ...request(), sink: url };
    const client = crypto.randomUUID();
    const headers = { "idempotency-key": "key-1" };

    const ids = await Promise.all(Array.from({ length: 4 }, () => accepted(body, { client, headers })));
    await expect.poll(() => sink().received(url), patiently).toHaveLength(1);
    ids.push(await accepted(body, { client, headers }));

    expect(new Set(ids).size).toBe(1);
    const other = sink().urlOf();
    const conflict = await ask({ ...request(), sink: other }, { client, headers });
    expect(conflict).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
    expect(JSON.stringify(conflict.body)).toContain("Idempotency-Key");
    const others = [
      await accepted({ ...request(), sink: other }, { client, headers: { "idempotency-key": "key-2" } }),
      await accepted({ ...request(), sink: other }, { headers }),
      await accepted({ ...request(), sink: other }, { client }),
      await accepted({ ...request(), sink: other }, { client }),
    ];
    expect(new Set([...ids, ...others]).size).toBe(5);
    await expect.poll(() => sink().received(other), patiently).toHaveLength(4);
    expect(sink().received(url)).toHaveLength(1);
  });

  test.each(["", "x".repeat(256)])(
    "POST /retrieve returns 400 for an idempotency key outside 1 to 255 characters: %#",
    async (key) => {
      const answer = await ask(
        { ...request(), sink: sink().urlOf() },
        { headers: { "idempotency-key": key } },
      );
      expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
    },
  );

  test("POST /retrieve returns 429 to a caller with 20 pending operations, and 202 to others", async () => {
    let isOpen = false;
    const url = sink().urlBy(() => (isOpen ? { status: 204 } : { status: 500 }));
    const client = crypto.randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => ask({ ...request(), sink: url }, { client })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(202), ...Array(5).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ status: 429, code: "TOO_MANY_REQUESTS" });
    expect(refused?.headers.get("retry-after")).toBe("60");
    isOpen = true;
    await accepted({ ...request(), sink: url });
  });

  test.each([null, 5, {}, ["https://sink.example.com/"]])(
    "POST /retrieve returns INVALID_ARGUMENT for sink %j",
    async (url) => {
      expect(await ask({ ...request(), sink: url })).toMatchObject({
        status: 400,
        body: { status: 400, code: "INVALID_ARGUMENT" },
      });
    },
  );
});

describe("on a service of its own", () => {
  const jobCount = runs(200, 10);
  const sinkCount = runs(20, 3);
  const brokenEach = 10;
  const failures: readonly SinkAnswer[] = [
    { status: 500 },
    { status: 503 },
    { status: 408 },
    { status: 429, headers: { "retry-after": "1" } },
    "reset",
    "cut",
  ];

  let service: OwnService;
  let sinks: readonly TestSink[];
  beforeAll(async () => {
    service = await startOwnService({
      SINK_RETRY_SECONDS: Array(12).fill("0").join(","),
      SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535",
      DENSITY_PENDING_LIMIT: "100",
      LOG_LEVEL: "ERROR",
    });
    sinks = await Promise.all(Array.from({ length: sinkCount }, openSink));
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(sinks.map((sink) => sink.close()));
  });

  async function storeTileDays(tile: string, hours: Uint8Array): Promise<void> {
    for (const day of typicalSpans) {
      await service.put("densities", { tile: `7/${tile}`, day, hours, madeFrom: [] });
    }
  }

  /** Tokens of callers nobody else uses, with all scopes. */
  async function tokensOf(callers: number): Promise<readonly string[]> {
    const { kid, ...jwk } = await service.signingKey();
    const signer = { kid, jwk, privateKey: createPrivateKey({ key: jwk, format: "jwk" }) };
    return Array.from({ length: callers }, () => {
      const scope =
        "population-density-data:read qos-profiles:read number-recycling:check device-identifier:retrieve-identifier";
      const claims = { ...claimsOf(crypto.randomUUID()), scope };
      return tokenOf({ alg: "ES256", typ: "at+jwt", kid }, claims, signedBy(signer));
    });
  }

  /** Fails 30 % of the time, in a way that belongs to the job. */
  function moody(seed: number): (index: number) => SinkAnswer {
    const random = seeded(seed);
    return () =>
      random() < 0.3
        ? (failures[Math.floor(random() * failures.length)] ?? "reset")
        : { status: random() < 0.5 ? 200 : 204 };
  }

  /** All items of a table. */
  async function itemsOf(table: TableName): Promise<Record<string, unknown>[]> {
    const { Items = [] } = await service.database.send(
      new ScanCommand({ TableName: service.tableName(table), ConsistentRead: true }),
    );
    return Items.map((item) => unmarshall(item));
  }

  test("every job ends exactly once when sinks fail and messages are doubled", {
    timeout: 600_000,
  }, async () => {
    const [good, broken] = [freshTile(), freshTile()];
    const hour = new TileHour();
    hour.setEstimate(cellIn(1, 1), 500, 400, 600);
    await storeTileDays(good, encodeTileDay(Array.from({ length: 24 }, () => hour)));
    await storeTileDays(broken, Buffer.from("broken"));
    const tokens = await tokensOf(Math.ceil(jobCount / 100));
    const QueueUrl = service.environmentOf(
      functionOf(service, "population-density/deliver"),
    ).QUEUE_DENSITY_JOBS;
    const queue = queueClient(service.queueEndpoint ?? "", {
      accessKeyId: "local",
      secretAccessKey: "local",
    });
    const random = seeded(1);
    const single: string[] = [];
    /** Sends a second message of one of the jobs that have one. */
    const double = async () => {
      const [operationId] = single.splice(Math.floor(random() * single.length), 1);
      const MessageBody = JSON.stringify({ version: 1, operationId });
      await queue.send(new SendMessageCommand({ QueueUrl, MessageBody }));
    };

    const jobs: { readonly operationId: string; readonly url: string; readonly isBroken: boolean }[] = [];
    const placeJobs = async (from: number) => {
      for (let index = from; index < jobCount; index += 10) {
        const isBroken = index % brokenEach === 3;
        const url = sinks[index % sinkCount]?.urlBy(moody(index)) ?? "";
        const body = { ...requestIn(boxIn(isBroken ? broken : good, [1, 1], [1.2, 2])), sink: url };
        const answer = await service.call(path, {
          method: "POST",
          body: JSON.stringify(body),
          headers: { authorization: `Bearer ${tokens[index % tokens.length]}` },
        });
        expect(answer.status).toBe(202);
        const { operationId } = retrievePopulationDensity.responses[202].parse(answer.body);
        jobs.push({ operationId, url, isBroken });
        single.push(operationId);
        if (single.length > 20) await double();
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, worker) => placeJobs(worker)));
    while (single.length > 0) await double();
    queue.destroy();

    const pending = async () => {
      const stored = await itemsOf("density-jobs");
      return stored.filter(({ state }) => state === "pending").length;
    };
    // A lease is waited for, of a worker that did not end on a busy machine.
    await expect.poll(pending, { timeout: 480_000, interval: 1_000 }).toBe(0);

    const stored = new Map((await itemsOf("density-jobs")).map((item) => [item.operationId, item]));
    expect(jobs).toHaveLength(jobCount);
    expect(stored.size).toBe(jobCount);
    const requests = sinks.flatMap((sink) => sink.received());
    for (const { operationId, url, isBroken } of jobs) {
      const { state, ...rest } = stored.get(operationId) ?? {};
      expect(state).toBe(isBroken ? "failed" : "delivered");
      expect(rest).not.toHaveProperty("sink");
      const own = requests.filter(({ headers }) => headers["webhook-id"] === operationId);
      const taken = own.filter(({ answer }) => typeof answer === "object" && answer.status < 300);
      expect(taken).toHaveLength(1);
      const bodies = [...new Set(own.map(({ body }) => body))];
      expect(bodies).toHaveLength(1);
      const delivered = retrievePopulationDensity.responses[200].parse(JSON.parse(bodies[0] ?? ""));
      expect(delivered.status).toBe(isBroken ? "OPERATION_NOT_COMPLETED" : "PART_OF_AREA_NOT_SUPPORTED");
      expect(delivered.timedPopulationDensityData).toHaveLength(isBroken ? 0 : 1);
      expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ operationId });
      expect(own.every((request) => request.path === new URL(url).pathname + new URL(url).search)).toBe(true);
    }
    const known = new Set(jobs.map(({ operationId }) => operationId));
    expect(requests.every(({ headers }) => known.has(String(headers["webhook-id"])))).toBe(true);
    expect(sinks.map((sink) => sink.maxAtOnce()).filter((max) => max > 4)).toEqual([]);
    const counted = async () => (await itemsOf("density-callers")).map(({ places }) => places);
    await expect.poll(counted).toEqual(tokens.map(() => ({})));
    expect(requests.length).toBeGreaterThan(1.1 * jobCount);
  });

  test("a job without a message is delivered after the sweep has run", async () => {
    const [sink] = sinks;
    const url = sink?.urlOf() ?? "";
    const requestedAt = Date.now() - 30_000;
    const job = someJob(url, requestIn(boxIn(freshTile(), [1, 1], [1.2, 2])), { requestedAt });
    await service.put("density-jobs", itemOf(job));
    await service.invoke(functionOf(service, "population-density/sweep"), {});
    await expect.poll(() => sink?.received(url), patiently).toHaveLength(1);
    expect(sink?.received(url)[0]?.headers["webhook-id"]).toBe(job.operationId);
  });

  test("every endpoint answers as before after a flood of requests with sinks", {
    timeout: 600_000,
  }, async () => {
    const [sink] = sinks;
    const url = sink?.urlOf() ?? "";
    const asked = requestIn(boxIn(freshTile(), [1, 1], [1.2, 2]));
    const tokens = await tokensOf(8);
    const send = (token: string | undefined, at: string, body?: unknown) =>
      service.call(at, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${token}` },
      });
    const ofEachKind = async () => {
      const [token] = await tokensOf(1);
      const answers = await Promise.all([
        send(token, path, asked),
        send(token, path, { ...asked, sink: url }),
        send(token, "/populationdensitydata/operations"),
        send(token, "/populationdensitydata/capabilities"),
        send(token, "/qualityondemand/retrieve-qos-profiles", {}),
        send(token, "/numberrecycling/check", { phoneNumber: "+34600000012", specifiedDate: "2023-12-22" }),
        send(token, "/deviceidentifier/retrieve-identifier", { device: { phoneNumber: "+34600000001" } }),
        send(token, "/v3/profile/authenticate", { emailaddress: "a@example.com", password: "a" }),
      ]);
      return answers.map(({ status }) => status);
    };
    const before = await ofEachKind();

    const outcomes = await Promise.allSettled(
      tokens.flatMap((token) =>
        Array.from({ length: runs(90, 8) }, () => send(token, path, { ...asked, sink: url })),
      ),
    );
    const answers = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    // A function whose time is over in the midst of an answer cuts it off.
    const cut = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [String(outcome.reason)] : [],
    );
    expect(new Set([...cut, "TypeError: terminated"]).size).toBe(1);

    expect(before).toEqual([200, 202, 200, 200, 200, 404, 404, 401]);
    for (const { status } of answers) expect([202, 429, 503, 504]).toContain(status);
    await expect.poll(ofEachKind, { timeout: 120_000, interval: 1_000 }).toEqual(before);
    const accepted = answers.flatMap(({ status, body }) =>
      status === 202 ? [retrievePopulationDensity.responses[202].parse(body).operationId] : [],
    );
    const delivered = () => sink?.received(url).map(({ headers }) => headers["webhook-id"]);
    await expect
      .poll(delivered, { timeout: 300_000, interval: 1_000 })
      .toEqual(expect.arrayContaining(accepted));
  });
});
