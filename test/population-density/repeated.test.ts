import { afterEach, describe, expect, test, vi } from "vitest";
import { hashed } from "../../shared/hash.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import { densityCaller } from "../support/density-caller.ts";
import { requestIn, storeJob } from "../support/jobs.ts";
import { eventOf } from "../support/pipeline.ts";
import { defaultSettings } from "../support/settings.ts";
import { someJob } from "../support/some-job.ts";
import { useHarness } from "../support/use-harness.ts";

const minute = 60_000;
const hour = 60 * minute;

const { harness, output } = useHarness({ ...defaultSettings });

afterEach(() => {
  vi.useRealTimers();
});

/** A caller nobody else uses, which sends a request for an operation with a key. */
function caller() {
  const { client, authorizer, retrieve } = densityCaller();
  return {
    client,
    ask: async (body: unknown, key = "a key") => {
      const answer = await retrieve(body, { headers: { "idempotency-key": key } });
      const { operationId, code } = JSON.parse(answer.body.toString());
      return { statusCode: answer.statusCode, operationId, code, location: answer.headers.location };
    },
    redeliver: async (operationId: string, body: unknown) => {
      const { handler } = await import(
        "../../functions/population-density/operations/redeliver-operation.ts"
      );
      const event = eventOf({
        pathParameters: { operationId },
        body: JSON.stringify(body),
        headers: { "idempotency-key": "a key" },
        authorizer: authorizer(),
      });
      const { statusCode, body: text } = await handler(event, { getRemainingTimeInMillis: () => 10_000 });
      return { statusCode, ...JSON.parse(text) };
    },
  };
}

/** A request for two days from now on: a minute later, its period is partly in the past. */
function requestFromNow() {
  const now = Date.now();
  const period = { startTime: new Date(now).toISOString(), endTime: new Date(now + 48 * hour).toISOString() };
  const request = requestIn(boxIn(freshTile(), [1, 1], [2, 2]));
  return { ...request, ...period, sink: "https://sink.example.com/densities" };
}

const later = (milliseconds: number) =>
  vi.useFakeTimers({ now: Date.now() + milliseconds, toFake: ["Date"] });

describe("a request that is repeated with its Idempotency-Key", () => {
  test.each([2 * minute, 23 * hour])(
    "POST /retrieve repeated with its Idempotency-Key returns the same operation %i ms later",
    async (milliseconds) => {
      const { ask } = caller();
      const request = requestFromNow();
      const first = await ask(request);
      later(milliseconds);

      expect(first).toMatchObject({ statusCode: 202, operationId: expect.any(String) });
      expect(await ask(request)).toEqual(first);
      expect(await ask(request, "another")).toMatchObject({
        statusCode: 400,
        code: "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD",
      });
    },
  );

  test("POST /retrieve repeated with its Idempotency-Key returns the same operation after its token has expired", async () => {
    const { ask } = caller();
    const sinkCredential = {
      credentialType: "ACCESSTOKEN",
      accessToken: "a-token",
      accessTokenExpiresUtc: new Date(Date.now() + minute).toISOString(),
    };
    // A period that stays in the future.
    const startTime = new Date(Date.now() + hour).toISOString();
    const request = { ...requestFromNow(), startTime, sinkCredential };
    const first = await ask(request);
    later(minute);

    expect(first).toMatchObject({ statusCode: 202 });
    expect(await ask(request)).toEqual(first);
    expect(await ask(request, "another")).toMatchObject({ statusCode: 400, code: "INVALID_ARGUMENT" });
  });

  test("POST /retrieve repeated with its Idempotency-Key returns the same operation after precisions changed", async () => {
    const { ask } = caller();
    const request = requestFromNow();
    const first = await ask(request);
    vi.stubEnv("DENSITY_PRECISIONS", "3");
    const again = await ask(request);
    vi.stubEnv("DENSITY_PRECISIONS", defaultSettings.DENSITY_PRECISIONS);

    expect(again).toEqual(first);
  });

  test("POST /retrieve repeated with its Idempotency-Key after a day is checked as a new request", async () => {
    const { ask } = caller();
    const request = requestFromNow();
    const { operationId } = await ask(request);
    const { jobStore } = await import("../../functions/population-density/delivery/job-store.ts");
    const job = await jobStore.read(operationId, AbortSignal.timeout(60_000));
    if (job === undefined) throw new Error("no job");
    await jobStore.cancel(job, AbortSignal.timeout(60_000));
    later(25 * hour);

    expect(await ask(request)).toMatchObject({ code: "POPULATION_DENSITY_DATA.INVALID_TIME_PERIOD" });
  });

  test("POST /retrieve with an Idempotency-Key again is the same request if its values are equal, and 400 if a text is not", async () => {
    const { ask } = caller();
    const sinkCredential = {
      credentialType: "ACCESSTOKEN",
      accessToken: "a token",
      accessTokenType: "bearer",
    };
    const { precision, ...request } = { ...requestFromNow(), precision: 7, sinkCredential };
    const first = await ask({ ...request, precision });
    const reversed = Object.fromEntries(Object.entries(request).reverse());
    const zone = request.endTime.replace("Z", "+00:00");

    expect(first).toMatchObject({ statusCode: 202 });
    expect(await ask({ ...reversed, precision: 7.0, unknown: "member" })).toEqual(first);
    expect(await ask(request)).toEqual(first);
    for (const other of [
      { endTime: zone },
      { sinkCredential: { ...sinkCredential, accessTokenType: "Bearer" } },
    ]) {
      expect(await ask({ ...request, ...other })).toMatchObject({
        statusCode: 400,
        code: "INVALID_ARGUMENT",
      });
    }
  });

  test.each([0, 256])(
    "POST /retrieve returns 400 for an Idempotency-Key of %i characters",
    async (length) => {
      const answer = await caller().ask(requestFromNow(), "x".repeat(length));
      expect(answer).toMatchObject({ statusCode: 400, code: "INVALID_ARGUMENT" });
    },
  );

  test("POST /retrieve repeated with its Idempotency-Key returns 504 when its operation cannot be read", async () => {
    const { ask } = caller();
    const request = requestFromNow();
    await ask(request);
    later(2 * minute);
    const jobs = process.env.TABLE_DENSITY_JOBS;
    harness().tables.inject(({ operation, parameters }) =>
      operation === "GetItem" && parameters.TableName === jobs ? "refuse" : "pass",
    );

    expect(await ask(request)).toMatchObject({ statusCode: 504, code: "TIMEOUT" });
    expect(output().text()).toContain('"NCS-003"');
  });

  test("POST /redeliver repeated with its Idempotency-Key returns the same operation after the first has expired", async () => {
    const { client, redeliver } = caller();
    const ended = await storeJob(
      someJob("https://sink.example.com/", requestIn(boxIn(freshTile(), [1, 1], [2, 2])), {
        caller: hashed(client),
        state: "delivered",
        requestedAt: Date.now() - 23 * hour,
      }),
    );
    const body = { sink: "https://sink.example.com/again" };
    const first = await redeliver(ended.operationId, body);
    expect(first).toMatchObject({ statusCode: 202 });
    later(2 * hour);

    expect(await redeliver(ended.operationId, body)).toEqual(first);
    const other = { sink: "https://other.example.com/" };
    expect(await redeliver(ended.operationId, other)).toMatchObject({ statusCode: 404 });
  });
});
