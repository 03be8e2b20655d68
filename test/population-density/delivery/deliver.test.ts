import { beforeAll, describe, expect, test, vi } from "vitest";
import { densityJobs } from "../../../functions/population-density/delivery/tables.ts";
import { densities as densityTable } from "../../../functions/population-density/tiles/table.ts";
import { putItem } from "../../../shared/aws/database.ts";
import { boxIn } from "../../support/densities.ts";
import {
  deliveredBody,
  type Harness,
  pendingOf,
  requestIn,
  run,
  someJob,
  storeDensities,
  storedJob,
  storeJob,
  synchronousBody,
} from "../../support/jobs.ts";
import { sampleOf } from "../../support/sample.ts";
import { openSink, type SinkAnswer } from "../../support/sink.ts";
import { useDeliveries } from "../../support/use-harness.ts";

type Handler = typeof import("../../../functions/population-density/delivery/deliver.ts").handler;

const { harness, output, densities, sink, queued } = useDeliveries("density-jobs");
let deliver: Handler;

beforeAll(async () => {
  ({ handler: deliver } = await import("../../../functions/population-density/delivery/deliver.ts"));
});

function schedule(seconds: string): void {
  vi.stubEnv("SINK_RETRY_SECONDS", seconds);
}

/** What became of a message: it is done with, it was hidden for so many seconds, or it is kept as it is. */
async function delivered(message: Awaited<ReturnType<Harness["receive"]>>, milliseconds?: number) {
  const before = harness().hidden(message).length;
  const failures = await run(deliver, message, milliseconds);
  const hidden = harness().hidden(message).slice(before);
  if (failures.length === 0) {
    expect(hidden).toEqual([]);
    return "ack";
  }
  return hidden.length === 0 ? "kept" : hidden[0];
}

/** What a sink waits for until the test lets it answer. */
function held() {
  let answer = () => {};
  const after = new Promise<void>((resolve) => {
    answer = resolve;
  });
  return { answer, after };
}

const secret = /^(?:sink|accessToken)$/;

/** A job that is over: nothing is left of where it was to go, and it counts no more. */
async function expectEnd(job: Awaited<ReturnType<typeof storeJob>>, state: string) {
  const stored = (await storedJob(job.operationId)) ?? {};
  expect(stored.state).toBe(state);
  expect(Object.keys(stored).filter((name) => secret.test(name))).toEqual([]);
  expect(await pendingOf(job.caller)).toEqual(new Set());
}

/** How many uploads to a sink's host are under way. */
async function uploadsTo(url: string): Promise<number> {
  const { permitStore } = await import("../../../functions/population-density/delivery/permit-store.ts");
  const { sinks } = await import("../../../functions/population-density/delivery/send.ts");
  const { permits } = await permitStore.read(AbortSignal.timeout(60_000));
  return permits.filter(({ host, until }) => host === sinks.hostOf(url) && until > Date.now()).length;
}

const failure = (operationId: string) => ({
  operationId,
  status: "OPERATION_NOT_COMPLETED",
  timedPopulationDensityData: [],
  statusInfo: expect.stringMatching(/^[A-Z][A-Za-z .]+$/),
});

describe("a job whose sink takes it", () => {
  test("brings the bytes of the synchronous answer with the operation's id before them", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url, { accessToken: "a!token~" });

    expect(await delivered(message)).toBe("ack");

    const [request, ...others] = sink().received();
    expect(others).toEqual([]);
    expect(request?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      operationId: job.operationId,
      status: "SUPPORTED_AREA",
      timedPopulationDensityData: [{ cellPopulationDensityData: [{ pplDensity: 1_234 }, {}] }],
    });
    expect(Object.keys(JSON.parse(request?.body ?? ""))[0]).toBe("operationId");
    const { headers } = request ?? {};
    expect(headers).toEqual({
      host: new URL(url).host,
      "transfer-encoding": "chunked",
      "content-type": "application/json",
      authorization: "Bearer a!token~",
      "x-correlator": job.correlator,
      "webhook-id": job.operationId,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
    });
    const age = Date.now() / 1_000 - Number(headers?.["webhook-timestamp"]);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60);
  });

  test("is over: nothing is left of its sink and credential, nor in the count of its caller", async () => {
    const { job, message } = await queued(sink().urlOf(), { accessToken: "token" });
    await delivered(message);
    await expectEnd(job, "delivered");
    expect(await uploadsTo(sink().urlOf())).toBe(0);
  });

  test("has no authorization when no token was given", async () => {
    const { message } = await queued(sink().urlOf());
    await delivered(message);
    expect(sink().received()[0]?.headers).not.toHaveProperty("authorization");
  });

  test("has the answer of the moment in which it was asked for", async () => {
    const requestedAt = Date.now() - 3 * 3_600_000;
    const start = new Date(Math.ceil(requestedAt / 3_600_000) * 3_600_000);
    const end = new Date(start.getTime() + 3_600_000);
    const request = { ...densities().request, startTime: start.toISOString(), endTime: end.toISOString() };
    const { job, message } = await queued(sink().urlOf(), { request, requestedAt });
    await delivered(message);
    expect(sink().received()[0]?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
  });

  test("answers with more than anybody reads", async () => {
    const { job, message } = await queued(sink().urlOf("endless"));
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
  });

  test("gets it once, however often its message comes again afterwards", async () => {
    const { job, message } = await queued(sink().urlOf());
    await harness().send("density-jobs", job, job);
    const copies = await harness().receive("density-jobs");
    await delivered(message);

    expect(await run(deliver, message)).toEqual([]);
    expect(await run(deliver, copies)).toEqual([]);

    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "delivered");
  });
});

describe("a sink that does not take it", () => {
  const failures: readonly (readonly [string, SinkAnswer])[] = [
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["408", { status: 408 }],
    ["a connection that is cut after the body", "reset"],
    ["a connection that is cut within it", "cut"],
  ];
  test.each(sampleOf(failures, 3))("is tried again: %s", async (_, answer) => {
    const { job, message } = await queued(sink().urlOf(answer, { status: 204 }), { accessToken: "token" });

    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", attempts: 1 });
    expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));
    const [again] = (await harness().receive("density-jobs")).Records;
    expect(again?.messageId).toBe(message.Records[0]?.messageId);
    expect(await delivered({ Records: again === undefined ? [] : [again] })).toBe("ack");

    const requests = [...sink().received(), ...sink().cutOff()];
    expect(requests).toHaveLength(2);
    expect(new Set(requests.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([job.operationId]));
    expect(sink().received().at(-1)?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    await expectEnd(job, "delivered");
  });

  test("is tried again when nobody listens", async () => {
    const { job, message } = await queued("http://127.0.0.1:1025/nobody");
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, possiblyDelivered: false });
  });

  test("is tried again on the schedule, and in the end gets one failure", async () => {
    schedule("100,1000");
    const { job, message } = await queued(
      sink().urlBy((index) => ({ status: index < 4 ? 408 : 204 })),
      { accessToken: "token" },
    );

    const first = await delivered(message);
    expect(first).toBeGreaterThanOrEqual(80);
    expect(first).toBeLessThanOrEqual(120);
    await makeDue(job);
    const second = await delivered(message);
    expect(second).toBeGreaterThanOrEqual(800);
    expect(second).toBeLessThanOrEqual(1_200);
    await makeDue(job);
    expect(await delivered(message)).toBe(0);
    expect(
      sink()
        .received()
        .every(({ body }) => body.includes("SUPPORTED_AREA")),
    ).toBe(true);
    expect(await delivered(message)).toBeGreaterThanOrEqual(48);
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");

    const notices = sink().received().slice(3);
    expect(notices.map(({ body }) => JSON.parse(body))).toEqual([
      failure(job.operationId),
      failure(job.operationId),
    ]);
    await expectEnd(job, "failed");
    expect(output().text()).toContain("NCS-034");
  });

  test.each<[string, SinkAnswer]>([
    ["a connection that is cut after the body", "reset"],
    ["500 of a proxy after the body", { status: 500 }],
    ["503 after the body", { status: 503 }],
  ])("is not told that there is no answer when it may hold one: %s", async (_, answer) => {
    schedule("0");
    const { job, message } = await queued(sink().urlOf(answer, { status: 408 }, { status: 204 }));
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ possiblyDelivered: true });
    expect(await delivered(message)).toBe("ack");
    expect(
      sink()
        .received()
        .map(({ body }) => JSON.parse(body).status),
    ).toEqual(["SUPPORTED_AREA", "SUPPORTED_AREA"]);
    await expectEnd(job, "failed");
  });

  test("says when it is to be tried again, and is not tried before, by no copy of the message", async () => {
    schedule("1000,1000");
    const busy = { status: 429, headers: { "retry-after": "700" } };
    const { job, message } = await queued(sink().urlOf(busy));
    await harness().send("density-jobs", job);
    const copy = await harness().receive("density-jobs");

    const asked = await delivered(message);
    expect(asked).toBeGreaterThanOrEqual(800);
    expect(asked).toBeLessThanOrEqual(1_200);
    for (const early of [await delivered(copy), await delivered(message)]) {
      expect(early).toBeGreaterThan(790);
      expect(early).toBeLessThanOrEqual(1_202);
    }

    expect(sink().received()).toHaveLength(1);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, state: "pending" });
  });

  test.each(sampleOf([410, 400, 401, 404, 301, 302, 307], 3))("is left for good: %i", async (status) => {
    const elsewhere = sink().urlOf();
    const { job, message } = await queued(sink().urlOf({ status, headers: { location: elsewhere } }), {
      accessToken: "token",
    });

    expect(await delivered(message)).toBe("ack");
    expect(await delivered(message)).toBe("ack");

    expect(sink().received()).toHaveLength(1);
    expect(sink().received(elsewhere)).toEqual([]);
    await expectEnd(job, "refused");
  });

  test("is left for good when it is nowhere a sink may be", async () => {
    const url = sink().urlOf();
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "");
    const { job, message } = await queued(url, { accessToken: "token" });
    expect(await delivered(message)).toBe("ack");
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "127.0.0.1/32:1024-65535");
    await expectEnd(job, "refused");
    expect(sink().received()).toEqual([]);
  });
});

/** Lets the time pass until the next attempt. */
async function makeDue(job: Awaited<ReturnType<typeof storeJob>>): Promise<void> {
  const stored = await storedJob(job.operationId);
  if (stored?.state !== "pending") return;
  await putItem(densityJobs, { ...stored, notBefore: Date.now() - 1 }, {}, AbortSignal.timeout(60_000));
}

describe("a worker that is gone", () => {
  const lease = crypto.randomUUID();

  test("keeps others from its job as long as it may be there", async () => {
    const { job, message } = await queued(sink().urlOf(), {
      lease,
      notBefore: Date.now() + 200_000,
      attempts: 1,
      possiblyDelivered: true,
    });
    const before = await storedJob(job.operationId);

    const seconds = await delivered(message);

    expect(seconds).toBeGreaterThan(190);
    expect(seconds).toBeLessThanOrEqual(202);
    expect(sink().received()).toEqual([]);
    expect(await storedJob(job.operationId)).toEqual(before);
  });

  test("in an attempt or right after it is replaced: the sink has the same again", async () => {
    const { job, message } = await queued(sink().urlOf(), {
      lease,
      notBefore: Date.now() - 1,
      attempts: 1,
      possiblyDelivered: true,
    });
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()[0]?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    await expectEnd(job, "delivered");
    expect(output().text()).toContain('"attempts":2');
  });

  test("may have delivered the answer: then the sink never gets a failure", async () => {
    const { job, message } = await queued(sink().urlOf({ status: 500 }), {
      request: await brokenRequest(),
      lease,
      notBefore: Date.now() - 1,
      attempts: 1,
      possiblyDelivered: true,
    });
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toEqual([]);
    await expectEnd(job, "failed");
  });

  test("that was to record what came of its attempt is replaced when its lease is over", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    const isEnd = (write: unknown) => `${write}`.includes("#state = :outcome");
    harness().tables.inject(({ parameters }) => (isEnd(parameters.UpdateExpression) ? "refuse" : "pass"));

    expect(await delivered(message)).toBe(15);
    harness().tables.inject();
    expect(await delivered(message)).toBe(20);
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");

    expect(sink().received(url)).toHaveLength(2);
    expect(
      new Set(
        sink()
          .received(url)
          .map(({ body }) => body),
      ).size,
    ).toBe(1);
    await expectEnd(job, "delivered");
  });

  test("that comes back when another has its lease says nothing of the job", async () => {
    for (const status of [204, 500]) {
      const { answer, after } = held();
      const url = sink().urlOf({ status, after });
      const { job, message } = await queued(url);
      const working = delivered(message);
      await expect.poll(() => sink().received(url)).toHaveLength(1);
      const stored = { ...(await storedJob(job.operationId)), lease: "another", attempts: 2 };
      await putItem(densityJobs, stored, {}, AbortSignal.timeout(60_000));
      answer();

      expect(await working).toBe(20);

      expect(await storedJob(job.operationId)).toEqual(stored);
      expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));
      expect(output().text()).not.toContain("NCS-033");
    }
  });

  test("that cannot give its permit back has recorded its attempt all the same", async () => {
    const url = sink().urlOf({ status: 500 }, { status: 204 });
    harness().tables.inject(({ parameters }) =>
      String(parameters.UpdateExpression).startsWith("ADD released") ? "refuse" : "pass",
    );
    const { job, message } = await queued(url);
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, notBefore: expect.any(Number) });
    harness().tables.inject();
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
    expect(output().text()).toContain("NCS-003");
  });

  test.each(["hang", "drip"] as const)(
    "comes to the end of its time first: it records that and leaves neither lease nor permit: %s",
    async (answer) => {
      schedule("100");
      const url = sink().urlOf(answer, { status: 204 });
      const { job, message } = await queued(url);

      const seconds = await delivered(message, 16_500);

      expect(seconds).toBeGreaterThanOrEqual(80);
      expect(seconds).toBeLessThanOrEqual(120);
      expect(await uploadsTo(url)).toBe(0);
      await makeDue(job);
      expect(await delivered(message)).toBe("ack");
      await expectEnd(job, "delivered");
    },
  );
});

describe("an answer of AWS that is lost", () => {
  /** Lets one call through without its answer. */
  function loseOnce(part: string): () => boolean {
    let isLost = false;
    harness().tables.inject(({ parameters }) => {
      if (isLost || !JSON.stringify(parameters).includes(part)) return "pass";
      isLost = true;
      return "lose";
    });
    return () => isLost;
  }

  test.each([
    ["that an attempt begins", "SET lease = "],
    ["that a permit is taken", "SET permits = "],
    ["that the sink may hold the answer", "SET possiblyDelivered"],
    ["that a job is over and its place free", "SET #state = "],
  ])("changes nothing: %s", async (_, part) => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    const isLost = loseOnce(part);

    expect(await delivered(message)).toBe("ack");

    expect(isLost()).toBe(true);
    harness().tables.inject();
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect((await storedJob(job.operationId))?.attempts).toBe(1);
    expect(await uploadsTo(url)).toBe(0);
    expect(output().text()).toContain("NCS-033");
  });

  test("leaves no permit that its worker does not know of", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url);
    let isTaken = false;
    harness().tables.inject(({ operation, parameters }) => {
      const isOfPermits = String(parameters.TableName).toLowerCase().includes("permits");
      if (isTaken && isOfPermits && operation === "GetItem") return "refuse";
      if (!String(parameters.UpdateExpression).startsWith("SET permits = ")) return "pass";
      isTaken = true;
      return "lose";
    });

    const verdict = await delivered(message);

    harness().tables.inject();
    expect(isTaken).toBe(true);
    expect(verdict).toBeGreaterThan(0);
    expect(await uploadsTo(url)).toBe(0);
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
  });

  test("changes nothing: that there will be another attempt", async () => {
    schedule("100");
    const { job, message } = await queued(sink().urlOf({ status: 500 }));
    const isLost = loseOnce("SET #mode = ");
    expect(await delivered(message)).toBeLessThanOrEqual(120);
    expect(isLost()).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, possiblyDelivered: true });
  });
});

/** What asks for a tile whose bytes are not a tile's. */
const brokenRequest = once(async () => {
  const { tile, request } = await storeDensities();
  await breakTile(tile);
  return request;
});

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function breakTile(tile: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  for (let day = 1; day <= 7; day++) {
    const item = { tile: `7/${tile}`, day: `week#${day}`, hours: Buffer.from("not a tile"), madeFrom: [] };
    await putItem(densityTable, item, {}, signal);
  }
}

describe("an answer that cannot be computed", () => {
  test("is reported to the sink once, as such, and the job has failed", async () => {
    const { job, message } = await queued(sink().urlOf(), {
      request: await brokenRequest(),
      accessToken: "token",
    });

    expect(await delivered(message)).toBe(0);
    expect(sink().received()).toEqual([]);
    const again = await harness().receive("density-jobs");
    expect(await delivered(again)).toBe("ack");
    expect(await delivered(again)).toBe("ack");

    const [notice, ...others] = sink().received();
    expect(others).toEqual([]);
    expect(JSON.parse(notice?.body ?? "")).toEqual(failure(job.operationId));
    expect(Object.keys(JSON.parse(notice?.body ?? ""))).toEqual([
      "operationId",
      "status",
      "timedPopulationDensityData",
      "statusInfo",
    ]);
    expect(notice?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer token",
      "x-correlator": job.correlator,
      "webhook-id": job.operationId,
    });
    await expectEnd(job, "failed");
    expect(output().text()).toContain("NCS-034");
  });

  test("is reported until the sink has taken it, also when it could be computed meanwhile", async () => {
    const { tile, request } = await storeDensities();
    await breakTile(tile);
    const { job, message } = await queued(sink().urlOf({ status: 500 }, "reset", { status: 204 }), {
      request,
    });
    expect(await delivered(message)).toBe(0);
    await storeDensities(tile);

    const verdicts = [];
    while (verdicts.at(-1) !== "ack") verdicts.push(await delivered(message));

    expect(verdicts).toEqual([0, 0, "ack"]);
    expect(
      sink()
        .received()
        .map(({ body }) => JSON.parse(body)),
    ).toEqual(Array.from({ length: 3 }, () => failure(job.operationId)));
    await expectEnd(job, "failed");
  });

  test("is reported no more when the sink does not take it in all the time", async () => {
    const { job, message } = await queued(sink().urlOf({ status: 500 }), { request: await brokenRequest() });
    let verdicts = 0;
    while ((await delivered(message)) !== "ack") {
      expect(++verdicts).toBeLessThan(9);
      await makeDue(job);
    }
    expect(sink().received().length).toBeGreaterThanOrEqual(3);
    expect(
      new Set(
        sink()
          .received()
          .map(({ body }) => JSON.parse(body).status),
      ),
    ).toEqual(new Set(["OPERATION_NOT_COMPLETED"]));
    await expectEnd(job, "failed");
  });

  test("is not reported to a sink that may hold the answer of an earlier attempt", async () => {
    const { tile, request } = await storeDensities();
    const { job, message } = await queued(sink().urlOf("reset", { status: 204 }), { request });
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ possiblyDelivered: true });
    await breakTile(tile);

    expect(await delivered(message)).toBe("ack");

    expect(sink().received()).toHaveLength(1);
    expect(sink().received()[0]?.body).toContain("SUPPORTED_AREA");
    await expectEnd(job, "failed");
  });

  test("is reported to a sink that said of each earlier attempt that it did not take it", async () => {
    const { tile, request } = await storeDensities();
    const { job, message } = await queued(sink().urlOf({ status: 429 }, { status: 204 }), { request });
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ possiblyDelivered: false });
    await breakTile(tile);

    expect(await delivered(message)).toBe(0);
    expect(await delivered(message)).toBe("ack");

    expect(JSON.parse(sink().received()[1]?.body ?? "")).toEqual(failure(job.operationId));
    await expectEnd(job, "failed");
  });

  test("does not leave the sink with the start of one that looks whole", async () => {
    const { job, message } = await queued(sink().urlOf(), { request: await brokenRequest() });
    await delivered(message);
    expect(sink().received()).toEqual([]);
    expect(
      sink()
        .cutOff()
        .every(({ body }) => body === ""),
    ).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({ mode: "failure", possiblyDelivered: false });
  });
});

describe("a job that has waited so long that it is about to expire", () => {
  const late = () => ({ requestedAt: Date.now() - 23.2 * 3_600_000, attempts: 2 });

  test("has failed while its sink can still get the failure", async () => {
    const { job, message } = await queued(sink().urlOf(), late());
    expect(await delivered(message)).toBe("ack");
    expect(
      sink()
        .received()
        .map(({ body }) => JSON.parse(body)),
    ).toEqual([failure(job.operationId)]);
    await expectEnd(job, "failed");
  });

  test("is not reported when its sink may hold the answer", async () => {
    const { job, message } = await queued(sink().urlOf(), { ...late(), possiblyDelivered: true });
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toEqual([]);
    await expectEnd(job, "failed");
  });
});

test("a job that is gone is done with, and the log says so", async () => {
  const job = someJob(sink().urlOf(), densities().request);
  await harness().send("density-jobs", job);
  expect(await delivered(await harness().receive("density-jobs"))).toBe("ack");
  expect(output().text()).toContain("NCS-035");
  expect(output().text()).toContain(job.operationId);
  expect(sink().received()).toEqual([]);
});

describe("a store that does not answer", () => {
  const refuseDensities = () =>
    harness().tables.inject(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));

  test("is asked again on the schedule; the sink notices nothing", async () => {
    schedule("100,0");
    const { job, message } = await queued(sink().urlOf());
    refuseDensities();
    const seconds = await delivered(message);
    expect(seconds).toBeGreaterThanOrEqual(80);
    expect(seconds).toBeLessThanOrEqual(120);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, mode: "answer" });
    expect(sink().received()).toEqual([]);

    harness().tables.inject();
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect(output().text()).toContain("DynamoDB: ");
  });

  test("for as long as the schedule goes is reported to the sink", async () => {
    schedule("0");
    const { job, message } = await queued(sink().urlOf(), { accessToken: "token" });
    refuseDensities();

    expect(await delivered(message)).toBe(0);
    expect(await delivered(message)).toBe(0);
    expect(sink().received()).toEqual([]);
    expect(await delivered(message)).toBe("ack");

    expect(
      sink()
        .received()
        .map(({ body }) => JSON.parse(body)),
    ).toEqual([failure(job.operationId)]);
    await expectEnd(job, "failed");
  });

  test("for as long as the schedule goes is not reported to a sink that may hold the answer", async () => {
    schedule("0");
    const { job, message } = await queued(sink().urlOf("reset", { status: 204 }));
    expect(await delivered(message)).toBe(0);
    refuseDensities();
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "failed");
  });

  test("at all leaves the message where it is for a moment", async () => {
    const { job, message } = await queued(sink().urlOf());
    harness().tables.inject(() => "refuse");
    expect(await delivered(message)).toBe(15);
    harness().tables.inject();
    expect(sink().received()).toEqual([]);
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
  });
});

describe("messages that come together", () => {
  test("are each their own: what cannot be read or fails does not keep the others", async () => {
    const good = [sink().urlOf(), sink().urlOf({ status: 500 })];
    const [one, other] = await Promise.all(
      good.map(async (url) => await storeJob(someJob(url, densities().request))),
    );
    const broken = someJob(sink().urlOf(), densities().request);
    await putItem(
      densityJobs,
      { operationId: broken.operationId, state: "odd" },
      {},
      AbortSignal.timeout(9_000),
    );
    const unknown = someJob(sink().urlOf(), densities().request);
    await harness().send(
      "density-jobs",
      "poison",
      '{"version":2,"operationId":"x"}',
      ...[one, unknown, broken, other].flatMap((job) => (job === undefined ? [] : [job])),
    );
    const batch = await harness().receive("density-jobs");
    expect(batch.Records).toHaveLength(6);

    const kept = new Set(await run(deliver, batch));

    expect(batch.Records.map(({ messageId }) => kept.has(messageId))).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
    ]);
    expect(batch.Records.map((_, index) => harness().hidden(batch, index))).toEqual([
      [0],
      [0],
      [],
      [],
      [],
      [0],
    ]);
    expect(sink().received(good[0])).toHaveLength(1);
    if (one !== undefined) await expectEnd(one, "delivered");
  });

  test("for two hosts do not wait for each other", async () => {
    const second = await openSink();
    const { answer, after } = held();
    const blocking = [];
    for (let index = 0; index < 2; index++) {
      blocking.push((await queued(sink().urlOf({ status: 204, after }))).message);
    }
    const running = blocking.map((message) => run(deliver, message));
    await expect.poll(() => sink().received()).toHaveLength(2);
    const { job, message } = await queued(second.urlOf());
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
    answer();
    await Promise.all([...running, second.close()]);
  });
});

describe("nobody reads of a sink, its credential or an answer", () => {
  const canary = `canary-${crypto.randomUUID()}`;

  test.each<[string, readonly SinkAnswer[], boolean]>([
    ["delivered", [{ status: 200 }], false],
    ["refused", [{ status: 410 }], false],
    ["failed", [{ status: 500 }, "reset", "cut", { status: 302 }], false],
    ["not computed", [{ status: 500 }, { status: 200 }], true],
  ])("in a log line or a message: %s", async (_, answers, isBroken) => {
    const url = sink().urlOf(...answers);
    const { job, message } = await queued(`${url}&canary=${canary}`, {
      accessToken: canary,
      ...(isBroken ? { request: await brokenRequest() } : {}),
    });
    const queueCalls = harness().queues.calls.length;
    while ((await delivered(message)) !== "ack") await makeDue(job);

    const lines = output().text().split("\n");
    expect(lines.filter((line) => line.includes(job.operationId)).length).toBeGreaterThan(1);
    expect(lines.some((line) => line.includes(job.correlator))).toBe(true);
    const written = output().text() + JSON.stringify(harness().queues.calls.slice(queueCalls));
    const { pathname, host } = new URL(url);
    for (const secretText of [canary, pathname, host, "pplDensity", densities().tile]) {
      expect(written).not.toContain(secretText);
    }
    const permits = harness().tables.calls.filter(({ parameters }) =>
      String(parameters.TableName).toLowerCase().includes("permits"),
    );
    expect(JSON.stringify(permits)).not.toContain(host);
  });
});

test("an answer of megabytes arrives whole", async () => {
  const request = requestIn(boxIn(densities().tile, [0, 0], [31, 31]), 60);
  const { job, message } = await queued(sink().urlOf(), { request });

  expect(await delivered(message)).toBe("ack");

  const body = sink().received()[0]?.body ?? "";
  expect(body.length).toBeGreaterThan(2_000_000);
  expect(body === deliveredBody(job.operationId, await synchronousBody(job))).toBe(true);
});

test("an answer of megabytes that breaks off is no whole answer", async () => {
  const request = requestIn(boxIn(densities().tile, [0, 0], [31, 31]), 168);
  const { job, message } = await queued(sink().urlOf("cut"), { request });

  expect(await delivered(message)).toBe(0);

  expect(sink().cutOff()).toHaveLength(1);
  expect(await storedJob(job.operationId)).toMatchObject({ possiblyDelivered: false, attempts: 1 });
});

describe("a token that ends", () => {
  test("is not used after its end: the job fails without a word, and operators see why", async () => {
    const { job, message } = await queued(sink().urlOf(), {
      accessToken: "token",
      accessTokenExpiresAt: Date.now() - 1,
    });
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toEqual([]);
    await expectEnd(job, "failed");
    expect(await storedJob(job.operationId)).toMatchObject({ reason: "token expired" });
    expect(output().text()).toContain('"reason":"token expired"');
  });

  test("before the next attempt ends the job now", async () => {
    schedule("600");
    const { job, message } = await queued(sink().urlOf({ status: 503 }), {
      accessToken: "token",
      accessTokenExpiresAt: Date.now() + 300_000,
    });
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "failed");
  });
});

test("an answer is recorded as possibly delivered before the sink can have all of it", async () => {
  const { answer, after } = held();
  const url = sink().urlOf({ status: 204, after });
  const { job, message } = await queued(url);
  const before = harness().tables.calls.length;
  const running = delivered(message);
  await expect.poll(() => sink().received(url)).toHaveLength(1);
  const marks = harness()
    .tables.calls.slice(before)
    .filter(({ parameters }) => String(parameters.UpdateExpression).startsWith("SET possiblyDelivered"));
  expect(marks).toHaveLength(1);
  expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", possiblyDelivered: true });
  answer();
  expect(await running).toBe("ack");
});

test("an answer of which that cannot be recorded is not sent whole", async () => {
  schedule("100");
  const { job, message } = await queued(sink().urlOf());
  harness().tables.inject(({ parameters }) =>
    String(parameters.UpdateExpression).startsWith("SET possiblyDelivered") ? "refuse" : "pass",
  );
  expect(await delivered(message)).toBeGreaterThanOrEqual(80);
  expect(sink().received()).toEqual([]);
  expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, possiblyDelivered: false });
});

describe("a limit of permits", () => {
  test("lets a job be delivered once, however many workers have its messages at the same time", async () => {
    const { answer, after } = held();
    const { job, message } = await queued(sink().urlOf({ status: 204, after }));
    await harness().send("density-jobs", ...Array.from({ length: 9 }, () => job));
    const copies = await harness().receive("density-jobs");
    expect(copies.Records).toHaveLength(9);

    const first = run(deliver, message);
    const same = run(deliver, message);
    const others = run(deliver, copies);
    await expect.poll(() => sink().received()).toHaveLength(1);
    answer();
    await Promise.all([first, same, others]);

    expect(sink().received()).toHaveLength(1);
    expect(sink().cutOff()).toHaveLength(0);
    await expectEnd(job, "delivered");
    expect(await run(deliver, copies)).toEqual([]);
    expect(sink().received()).toHaveLength(1);
  });

  test("is taken by a worker that is gone before it began an attempt, but not for ever", async () => {
    const url = sink().urlOf();
    const { acquirePermit } = await import("../../../functions/population-density/delivery/permits.ts");
    const { workerPorts } = await import("../../../functions/population-density/delivery/worker-ports.ts");
    const ports = workerPorts();
    const mine = { operationId: "gone", host: ports.sinks.hostOf(url), mode: "answer" } as const;
    const until = Date.now() + 60_000;
    for (const holder of Array.from({ length: 4 }, () => crypto.randomUUID())) {
      const request = { ...mine, holder, caller: holder, since: Date.now() };
      expect(await acquirePermit(request, until, ports, AbortSignal.timeout(60_000))).toBe(undefined);
    }
    const { job, message } = await queued(url);
    expect(await delivered(message)).toBeLessThanOrEqual(20);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 0 });
    vi.useFakeTimers({ now: until + 1, toFake: ["Date"] });
    try {
      expect(await run(deliver, message)).toEqual([]);
      await expectEnd(job, "delivered");
    } finally {
      vi.useRealTimers();
    }
  });

  test("lets four answers be uploaded to one host at a time; a fifth asks again, without an attempt counted", async () => {
    const { answer, after } = held();
    const urls = Array.from({ length: 5 }, () => sink().urlOf({ status: 204, after }));
    const jobs = [];
    for (const url of urls) jobs.push(await storeJob(someJob(url, densities().request)));
    await harness().send("density-jobs", ...jobs);
    const batch = await harness().receive("density-jobs");

    const running = run(deliver, batch);
    await expect.poll(() => sink().received()).toHaveLength(4);
    const hidden = () => batch.Records.flatMap((_, index) => harness().hidden(batch, index));
    await expect.poll(() => hidden().length).toBe(1);
    expect(hidden()[0]).toBeGreaterThanOrEqual(5);
    expect(hidden()[0]).toBeLessThanOrEqual(20);
    const left = jobs.filter(({ sink: url }) => sink().received(url).length === 0);
    expect(left).toHaveLength(1);
    expect(await storedJob(left[0]?.operationId ?? "")).toMatchObject({ attempts: 0, state: "pending" });
    answer();
    expect(await running).toHaveLength(1);

    // The first worker whose job ended went on with it.
    expect(sink().received()).toHaveLength(5);
    expect(sink().maxAtOnce()).toBe(4);
    for (const job of jobs) await expectEnd(job, "delivered");
    expect(await run(deliver, batch)).toEqual([]);
    expect(sink().received()).toHaveLength(5);
    expect(harness().queues.calls.filter(({ operation }) => operation === "SendMessage")).toEqual([]);
    expect(await uploadsTo(urls[0] ?? "")).toBe(0);
  });

  test("lets one caller upload three answers to one host at a time", async () => {
    const { answer, after } = held();
    const caller = crypto.randomUUID();
    const jobs = [];
    for (let index = 0; index < 4; index++) {
      jobs.push(
        await storeJob(someJob(sink().urlOf({ status: 204, after }), densities().request, { caller })),
      );
    }
    await harness().send("density-jobs", ...jobs);
    const running = run(deliver, await harness().receive("density-jobs"));
    await expect.poll(() => sink().received()).toHaveLength(3);
    const { job, message } = await queued(sink().urlOf());
    expect(await delivered(message)).toBe("ack");
    await expectEnd(job, "delivered");
    answer();
    expect(await running).toHaveLength(1);
    expect(await pendingOf(caller)).toEqual(new Set());
  });

  test("leaves a job that waits, and of which an attempt has failed, to its own message", async () => {
    const { answer, after } = held();
    const caller = crypto.randomUUID();
    const blocking = [];
    for (let index = 0; index < 3; index++) {
      const one = someJob(sink().urlOf({ status: 204, after }), densities().request, { caller });
      blocking.push(await storeJob(one));
    }
    await harness().send("density-jobs", ...blocking);
    const running = run(deliver, await harness().receive("density-jobs"));
    await expect.poll(() => sink().received()).toHaveLength(3);
    const { job, message } = await queued(sink().urlOf(), { caller, attempts: 1 });
    expect(await delivered(message)).toBeLessThanOrEqual(20);
    answer();
    expect(await running).toEqual([]);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, state: "pending" });
    expect(await delivered(message)).toBe("ack");
  });

  test("is asked for on by a worker whose next job cannot be read, which changes nothing for its own", async () => {
    const { answer, after } = held();
    const urls = Array.from({ length: 5 }, () => sink().urlOf({ status: 204, after }));
    const jobs = [];
    for (const url of urls) jobs.push(await storeJob(someJob(url, densities().request)));
    await harness().send("density-jobs", ...jobs);
    const batch = await harness().receive("density-jobs");
    const running = run(deliver, batch);
    await expect.poll(() => sink().received()).toHaveLength(4);
    await expect
      .poll(() => batch.Records.flatMap((_, index) => harness().hidden(batch, index)).length)
      .toBe(1);
    harness().tables.inject(({ operation }) => (operation === "Query" ? "refuse" : "pass"));
    answer();
    expect(await running).toHaveLength(1);
    expect(sink().received()).toHaveLength(4);
    harness().tables.inject();
    expect(await run(deliver, batch)).toEqual([]);
    expect(sink().received()).toHaveLength(5);
  });
});
