import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { retrievePopulationDensity } from "../../../functions/population-density/contract.ts";
import {
  cancelOperation,
  failureReasons,
  listOperations,
  readOperation,
  redeliverOperation,
} from "../../../functions/population-density/operations/contract.ts";
import { hourFromNow } from "../../support/areas.ts";
import { someCaller } from "../../support/client.ts";
import { storedJob, storeJob } from "../../support/jobs.ts";
import { sharedService } from "../../support/service.ts";
import { someJob } from "../../support/some-job.ts";
import { useRequestAndSink } from "../../support/use-harness.ts";

const families = ["/populationdensitydata", "/population-density-data/v0.3"] as const;
const [family] = families;

const { request, sink } = useRequestAndSink();

function operator() {
  const caller = someCaller("population-density-data:read");
  const operationOf = async (id: string) => {
    const { status, body } = await caller.send("GET", `${family}/operations/${id}`);
    expect(status).toBe(200);
    return readOperation.responses[200].parse(body);
  };
  return { ...caller, operationOf };
}

/** A pending job of a caller, that no worker works on before its day is over. */
function pendingJob(caller: string, changes: Parameters<typeof someJob>[2] = {}) {
  const notBefore = Date.now() + 86_400_000;
  const listedAt = new Date(changes.requestedAt ?? Date.now()).toISOString();
  const held = { caller, queuedAt: Date.now(), notBefore, listedAt, accessToken: "a-token" };
  return storeJob(someJob("https://sink.example.com/secret-path", request(), { ...held, ...changes }));
}

describe("an accepted request", () => {
  test.each(families)(
    "POST %s/retrieve returns the Location of an operation that becomes DELIVERED, and its sink gets the answer",
    async (at) => {
      const { send } = operator();
      const url = sink().urlOf({ status: 204 });
      const sinkCredential = {
        credentialType: "ACCESSTOKEN",
        accessToken: "a~token!",
        accessTokenType: "bearer",
        accessTokenExpiresUtc: hourFromNow(9).toISOString(),
      };
      const body = { ...request(), sink: url, sinkCredential };
      const accepted = await send("POST", `${at}/retrieve`, body, { "x-correlator": "delivery-1" });
      const { operationId } = accepted.body as { operationId: string };
      const location = accepted.headers.get("location") ?? "";
      expect(location).toBe(`${sharedService.url}${at}/operations/${operationId}`);
      const followed = async () => (await send("GET", new URL(location).pathname)).body;
      await expect.poll(followed).toMatchObject({
        operationId,
        state: "DELIVERED",
        cells: 2,
        intervals: 1,
        attempts: 1,
        lastAttempt: { outcome: "DELIVERED", httpStatus: 204 },
        possiblyDelivered: false,
      });
      const [delivery] = sink().received(url);
      expect(delivery?.headers).toMatchObject({
        authorization: "Bearer a~token!",
        "x-correlator": "delivery-1",
        "webhook-id": operationId,
      });
      const { callback } = retrievePopulationDensity;
      expect(z.object(callback.headers).safeParse(delivery?.headers).error).toBeUndefined();
      expect(callback.body.safeParse(JSON.parse(delivery?.body ?? "")).error).toBeUndefined();
      const atOnce = await send("POST", `${at}/retrieve`, request());
      expect(JSON.parse(delivery?.body ?? "")).toEqual({ operationId, ...(atOnce.body as object) });
    },
  );

  test("GET /operations/{id} returns the sink's status and the time of the next attempt", async () => {
    const { send, operationOf } = operator();
    const url = sink().urlOf({ status: 503, headers: { "retry-after": "3000" } });
    const accepted = await send("POST", `${family}/retrieve`, { ...request(), sink: url });
    const { operationId } = accepted.body as { operationId: string };
    await expect
      .poll(() => operationOf(operationId))
      .toMatchObject({ state: "PENDING", attempts: 1, lastAttempt: { outcome: "FAILED", httpStatus: 503 } });
    const { lastAttempt, nextAttemptAt = "", requestedAt, expiresAt } = await operationOf(operationId);
    expect(Date.parse(nextAttemptAt) - Date.parse(lastAttempt?.at ?? "")).toBeGreaterThan(2_999_000);
    expect(Date.parse(expiresAt) - Date.parse(requestedAt)).toBe(86_400_000);
  });

  test("operations show nothing of their area, sink and credential", async () => {
    const { caller, send } = operator();
    const { operationId } = await pendingJob(caller);
    const texts = [
      await send("GET", `${family}/operations/${operationId}`),
      await send("GET", `${family}/operations`),
      await send("DELETE", `${family}/operations/${operationId}`),
    ].map(({ body }) => JSON.stringify(body));
    for (const text of texts) {
      expect(text).toContain(operationId);
      expect(text).not.toMatch(/sink|a-token|boundary|latitude|precision/);
    }
  });
});

describe("an operation that failed", () => {
  test.each([
    [{ reason: "token expired" }, "TOKEN_EXPIRED"],
    [{ reason: "expired" }, "TIME_OVER"],
    [{ reason: "failure sent", mode: "failure", failureCause: "attempts exhausted" }, "ATTEMPTS_EXHAUSTED"],
    [{ reason: "failure sent", mode: "failure", failureCause: "time over" }, "TIME_OVER"],
    [{ reason: "failure not sent", mode: "failure", failureCause: "not computed" }, "NOT_COMPUTED"],
    [{ reason: "possibly delivered", possiblyDelivered: true }, "POSSIBLY_DELIVERED"],
    // As releases before have stored it.
    [{ reason: "failure refused", mode: "failure" }, undefined],
  ] as const)("GET /operations/{id} of %j has the failureReason %s", async (stored, failureReason) => {
    const { caller, operationOf } = operator();
    const { operationId } = await pendingJob(caller, { state: "failed", ...stored });
    const operation = await operationOf(operationId);
    expect(operation.state).toBe("FAILED");
    expect(operation.failureReason).toBe(failureReason);
  });

  test("docs/deliveries.md has a row for each failureReason, and no other", () => {
    const document = readFileSync("docs/deliveries.md", "utf8");
    const [, table = ""] = /^\| `failureReason` .*\n.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
    const named = Array.from(table.matchAll(/^\| `(\w+)`/gm), ([, name]) => name);
    expect(named).toEqual(Object.values(failureReasons));
  });

  test("an operation whose token expires between two attempts is TOKEN_EXPIRED", async () => {
    const { send, operationOf } = operator();
    const url = sink().urlOf({ status: 503, headers: { "retry-after": "3000" } });
    const sinkCredential = {
      credentialType: "ACCESSTOKEN",
      accessToken: "a-token",
      accessTokenExpiresUtc: new Date(Date.now() + 600_000).toISOString(),
    };
    const accepted = await send("POST", `${family}/retrieve`, { ...request(), sink: url, sinkCredential });
    const { operationId } = accepted.body as { operationId: string };
    await expect
      .poll(() => operationOf(operationId))
      .toMatchObject({ state: "FAILED", failureReason: "TOKEN_EXPIRED", attempts: 1 });
  });
});

describe("a token that has expired", () => {
  const expired = { credentialType: "ACCESSTOKEN", accessToken: "a-token", accessTokenType: "bearer" };
  const at = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
  const refused = {
    status: 400,
    body: { code: "INVALID_ARGUMENT", message: expect.stringContaining("accessTokenExpiresUtc") },
  };

  test("POST /retrieve names what is wrong with the period first, and a precision that is not supported after it", async () => {
    const { send } = operator();
    const sinkCredential = { ...expired, accessTokenExpiresUtc: at(-1) };
    const body = { ...request(), sink: sink().urlOf(), sinkCredential };
    const { startTime: endTime, endTime: startTime } = body;
    expect(await send("POST", `${family}/retrieve`, { ...body, startTime, endTime })).toMatchObject({
      body: { code: "POPULATION_DENSITY_DATA.INVALID_END_TIME" },
    });
    expect(await send("POST", `${family}/retrieve`, { ...body, precision: 1 })).toMatchObject(refused);
  });

  test("POST /retrieve takes the time of a token that is not there, and of a credential without a sink", async () => {
    const { send } = operator();
    const { accessToken: _, ...nothing } = expired;
    const noToken = { ...nothing, accessTokenExpiresUtc: at(-1) };
    const body = { ...request(), sink: sink().urlOf({ status: 204 }) };
    expect(await send("POST", `${family}/retrieve`, { ...body, sinkCredential: noToken })).toMatchObject({
      status: 202,
    });
    const atOnce = { ...request(), sinkCredential: { ...expired, accessTokenExpiresUtc: at(-1) } };
    expect(await send("POST", `${family}/retrieve`, atOnce)).toMatchObject({ status: 200 });
  });

  test("POST /redeliver is 400, also for an operation that does not exist", async () => {
    const { caller, send } = operator();
    const { operationId } = await pendingJob(caller, { state: "failed" });
    const body = { sink: sink().urlOf(), sinkCredential: { ...expired, accessTokenExpiresUtc: at(-1) } };
    for (const id of [operationId, crypto.randomUUID()])
      expect(await send("POST", `${family}/operations/${id}/redeliver`, body)).toMatchObject(refused);
  });
});

describe("another caller's operation", () => {
  test.each([
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/redeliver"],
  ])(
    "%s of another caller's operation returns the same 404 as for one that does not exist",
    async (method, suffix) => {
      const { operationId } = await pendingJob(operator().caller);
      const { send } = operator();
      const body = method === "POST" ? { sink: sink().urlOf() } : undefined;
      const [foreign, unknown] = [
        await send(method, `${family}/operations/${operationId}${suffix}`, body),
        await send(method, `${family}/operations/${crypto.randomUUID()}${suffix}`, body),
      ];
      expect(foreign).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
      expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(unknown.body));
      expect(await storedJob(operationId)).toMatchObject({ state: "pending" });
    },
  );

  test("GET /operations/{id} returns 404 for a withdrawn operation and for one that is a day old", async () => {
    const { caller, send } = operator();
    const old = await pendingJob(caller, { requestedAt: Date.now() - 86_400_000, state: "failed" });
    const withdrawn = await pendingJob(caller, { state: "withdrawn" });
    for (const { operationId } of [old, withdrawn]) {
      expect((await send("GET", `${family}/operations/${operationId}`)).status).toBe(404);
    }
    expect((await send("GET", `${family}/operations`)).body).toEqual({ operations: [] });
  });
});

describe("the list", () => {
  test("GET /operations returns the caller's operations page by page, newest first, filtered by state", async () => {
    const { caller, send } = operator();
    await pendingJob(operator().caller);
    const now = Date.now();
    const stored = [];
    for (let index = 0; index < 5; index++) {
      const state = index % 2 === 0 ? "pending" : "delivered";
      // The second and the third have the same time.
      const requestedAt = now - 1_000 * (index === 2 ? 1 : index);
      stored.push(await pendingJob(caller, { requestedAt, state }));
    }
    const ids = stored.map(({ operationId }) => operationId);
    const page = async (query: string) => {
      const { status, body } = await send("GET", `${family}/operations?${query}`);
      expect(status).toBe(200);
      const { operations, nextPageToken } = listOperations.responses[200].parse(body);
      return { ids: operations.map(({ operationId }) => operationId), nextPageToken };
    };
    const all = (await page("")).ids;
    expect(all.filter((id) => id !== ids[2])).toEqual(ids.filter((id) => id !== ids[2]));
    expect(all.slice(1, 3)).toContain(ids[2]);
    const first = await page("perPage=2");
    expect(first.ids).toEqual(all.slice(0, 2));
    const last = await page(`perPage=4&pageToken=${first.nextPageToken}`);
    expect(last).toEqual({ ids: all.slice(2), nextPageToken: undefined });
    expect((await page("state=DELIVERED")).ids).toEqual([ids[1], ids[3]]);
    expect((await page("state=CANCELLED")).ids).toEqual([]);
  });

  test.each(["unknown", "", Buffer.from('["2026-11-22T10:00:00.000Z","x"]').toString("base64url")])(
    "GET /operations returns 400 for the pageToken %j",
    async (pageToken) => {
      const { send } = operator();
      expect(await send("GET", `${family}/operations?pageToken=${pageToken}`)).toMatchObject({
        status: 400,
        body: { code: "INVALID_ARGUMENT", message: expect.stringContaining("pageToken") },
      });
    },
  );
});

describe("DELETE", () => {
  test("DELETE /operations/{id} cancels a pending operation and erases its sink and credential", async () => {
    const { caller, send } = operator();
    const { operationId } = await pendingJob(caller);
    for (let time = 1; time <= 2; time++) {
      const { status, body } = await send("DELETE", `${family}/operations/${operationId}`);
      expect(status).toBe(200);
      const cancelled = cancelOperation.responses[200].parse(body);
      expect(cancelled).toMatchObject({ state: "CANCELLED", possiblyDelivered: false });
      expect(cancelled).not.toHaveProperty("nextAttemptAt");
    }
    const stored = (await storedJob(operationId)) ?? {};
    expect(stored).not.toHaveProperty("sink");
    expect(stored).not.toHaveProperty("accessToken");
  });

  test("DELETE /operations/{id} keeps possiblyDelivered of an operation whose body was on its way", async () => {
    const { caller, send } = operator();
    const { operationId } = await pendingJob(caller, { possiblyDelivered: true });
    const { body } = await send("DELETE", `${family}/operations/${operationId}`);
    expect(body).toMatchObject({ state: "CANCELLED", possiblyDelivered: true });
  });
});

describe("redeliver", () => {
  test("POST /redeliver delivers an ended operation's answer to another sink as a new one", async () => {
    const { send, operationOf } = operator();
    const [refusing, taking] = [sink().urlOf({ status: 410 }), sink().urlOf({ status: 200 })];
    const accepted = await send("POST", `${family}/retrieve`, { ...request(), sink: refusing });
    const { operationId } = accepted.body as { operationId: string };
    await expect.poll(async () => (await operationOf(operationId)).state).toBe("REFUSED");

    const sinkCredential = { credentialType: "ACCESSTOKEN", accessToken: "another" };
    const again = await send("POST", `${family}/operations/${operationId}/redeliver`, {
      sink: taking,
      sinkCredential,
    });

    expect(again.status).toBe(202);
    const { operationId: newId } = redeliverOperation.responses[202].parse(again.body);
    expect(newId).not.toBe(operationId);
    expect(again.headers.get("location")).toBe(`${sharedService.url}${family}/operations/${newId}`);
    await expect.poll(async () => (await operationOf(newId)).state).toBe("DELIVERED");
    const [delivery] = sink().received(taking);
    expect(delivery?.headers).toMatchObject({ authorization: "Bearer another", "webhook-id": newId });
    const [refused] = sink().received(refusing);
    expect(delivery?.body).toBe(refused?.body.replace(operationId, newId));
    expect((await operationOf(operationId)).state).toBe("REFUSED");
  });

  test("POST /redeliver delivers the answer as of the time of the first request", async () => {
    const { caller, send, operationOf } = operator();
    const requestedAt = Date.now() - 20 * 3_600_000;
    const hour = 3_600_000;
    // In the future when it was requested, and around now since.
    const start = Math.floor(Date.now() / hour) * hour - hour;
    const period = {
      startTime: new Date(start).toISOString(),
      endTime: new Date(start + 4 * hour).toISOString(),
    };
    const stored = { requestedAt, state: "failed", request: { ...request(), ...period } } as const;
    const { operationId } = await pendingJob(caller, stored);
    const url = sink().urlOf({ status: 200 });
    const again = await send("POST", `${family}/operations/${operationId}/redeliver`, { sink: url });
    const { operationId: newId } = redeliverOperation.responses[202].parse(again.body);
    await expect.poll(() => operationOf(newId)).toMatchObject({ state: "DELIVERED", intervals: 4 });
    expect(JSON.parse(sink().received(url)[0]?.body ?? "")).toMatchObject({ status: "SUPPORTED_AREA" });
  });

  test("POST /redeliver returns 429 to a caller with 20 pending operations", async () => {
    const { caller, send } = operator();
    const body = { sink: sink().urlOf() };
    for (let index = 0; index < 20; index++) await pendingJob(caller);
    const ended = await storeJob(
      someJob("", request(), { caller, state: "delivered", listedAt: new Date().toISOString() }),
    );
    expect(await send("POST", `${family}/operations/${ended.operationId}/redeliver`, body)).toMatchObject({
      status: 429,
      body: { code: "TOO_MANY_REQUESTS" },
    });
  });
});
