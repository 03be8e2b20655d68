import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { putItem } from "../../shared/aws/database.ts";
import { boxIn } from "../support/densities.ts";
import {
  deliveredBody,
  newJob,
  openWorkplace,
  pendingOf,
  requestIn,
  run,
  storeDensities,
  storedJob,
  storeJob,
  synchronousBody,
  type Workplace,
} from "../support/jobs.ts";
import { captureOutput } from "../support/pipeline.ts";
import { openSink, type SinkAnswer, type TestSink } from "../support/sink.ts";

type Handler = typeof import("../../functions/population-density/deliver.ts").handler;

let workplace: Workplace;
let deliver: Handler;
let densities: Awaited<ReturnType<typeof storeDensities>>;
let sink: TestSink;
let output: ReturnType<typeof captureOutput>;

beforeAll(async () => {
  workplace = await openWorkplace();
  densities = await storeDensities();
  ({ handler: deliver } = await import("../../functions/population-density/deliver.ts"));
});
afterAll(() => workplace.close());

beforeEach(async () => {
  sink = await openSink();
  schedule("0,0,0");
  output = captureOutput();
});
afterEach(async () => {
  output.stop();
  workplace.tables.rule();
  workplace.queues.rule();
  await sink.close();
  await workplace.drain("density-jobs");
});

function schedule(seconds: string): void {
  vi.stubEnv("SINK_RETRY_SECONDS", seconds);
}

/** A job that is stored and counted, and one of its messages, received. */
async function queued(url: string, changes: Parameters<typeof newJob>[2] = {}) {
  const job = await storeJob(newJob(url, densities.request, changes));
  await workplace.send("density-jobs", job);
  return { job, message: await workplace.receive("density-jobs") };
}

/** What became of a message: it is done with, it was hidden for so many seconds, or it is kept as it is. */
async function delivered(message: Awaited<ReturnType<Workplace["receive"]>>, milliseconds?: number) {
  const before = workplace.hidden(message).length;
  const failures = await run(deliver, message, milliseconds);
  const hidden = workplace.hidden(message).slice(before);
  if (failures.length === 0) {
    expect(hidden).toEqual([]);
    return "done";
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

/** How many slots of a host are free, found out by taking them. */
async function freeSlots(url: string): Promise<number> {
  const { giveSlotBack, ofHost, takeSlot } = await import("../../functions/population-density/jobs.ts");
  const now = new Date();
  const signal = AbortSignal.timeout(10_000);
  const taken = [];
  for (;;) {
    const slot = await takeSlot(
      ofHost(new URL(url).host),
      crypto.randomUUID(),
      new Date(now.getTime() + 9_000),
      now,
      signal,
    );
    if (slot === undefined) break;
    taken.push(slot);
  }
  for (const slot of taken) await giveSlotBack(slot, signal);
  return taken.length;
}

const failure = (operationId: string) => ({
  operationId,
  status: "OPERATION_NOT_COMPLETED",
  timedPopulationDensityData: [],
  statusInfo: expect.stringMatching(/^[A-Z][A-Za-z .]+$/),
});

describe("a job whose sink takes it", () => {
  test("brings the bytes of the synchronous answer with the operation's id before them", async () => {
    const url = sink.urlOf();
    const { job, message } = await queued(url, { accessToken: "a!token~" });

    expect(await delivered(message)).toBe("done");

    const [request, ...others] = sink.received();
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
      connection: "close",
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
    const { job, message } = await queued(sink.urlOf(), { accessToken: "token" });
    await delivered(message);
    await expectEnd(job, "delivered");
    expect(await freeSlots(sink.urlOf())).toBe(2);
  });

  test("has no authorization when no token was given", async () => {
    const { message } = await queued(sink.urlOf());
    await delivered(message);
    expect(sink.received()[0]?.headers).not.toHaveProperty("authorization");
  });

  test("has the answer of the moment in which it was asked for", async () => {
    const requestedAt = Date.now() - 3 * 3_600_000;
    const start = new Date(Math.ceil(requestedAt / 3_600_000) * 3_600_000);
    const end = new Date(start.getTime() + 3_600_000);
    const request = { ...densities.request, startTime: start.toISOString(), endTime: end.toISOString() };
    const { job, message } = await queued(sink.urlOf(), { request, requestedAt });
    await delivered(message);
    expect(sink.received()[0]?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
  });

  test("answers with more than anybody reads", async () => {
    const { job, message } = await queued(sink.urlOf("endless"));
    expect(await delivered(message)).toBe("done");
    await expectEnd(job, "delivered");
  });

  test("gets it once, however often its message comes again afterwards", async () => {
    const { job, message } = await queued(sink.urlOf());
    await workplace.send("density-jobs", job, job);
    const copies = await workplace.receive("density-jobs");
    await delivered(message);

    expect(await run(deliver, message)).toEqual([]);
    expect(await run(deliver, copies)).toEqual([]);

    expect(sink.received()).toHaveLength(1);
    await expectEnd(job, "delivered");
  });

  test("gets it once, however many workers have its messages at the same time", async () => {
    const { answer, after } = held();
    const { job, message } = await queued(sink.urlOf({ status: 204, after }));
    await workplace.send("density-jobs", ...Array.from({ length: 9 }, () => job));
    const copies = await workplace.receive("density-jobs");
    expect(copies.Records).toHaveLength(9);

    const first = run(deliver, message);
    const same = run(deliver, message);
    const others = run(deliver, copies);
    await expect.poll(() => sink.received()).toHaveLength(1);
    answer();
    await Promise.all([first, same, others]);

    expect(sink.received()).toHaveLength(1);
    expect(sink.cutOff()).toHaveLength(0);
    await expectEnd(job, "delivered");
    expect(await run(deliver, copies)).toEqual([]);
    expect(sink.received()).toHaveLength(1);
  });
});

describe("a sink that does not take it", () => {
  test.each<[string, SinkAnswer]>([
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["408", { status: 408 }],
    ["a connection that is cut after the body", "reset"],
    ["a connection that is cut within it", "cut"],
  ])("is tried again: %s", async (_, answer) => {
    const { job, message } = await queued(sink.urlOf(answer, { status: 204 }), { accessToken: "token" });

    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", attempts: 1 });
    expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));
    const [again] = (await workplace.receive("density-jobs")).Records;
    expect(again?.messageId).toBe(message.Records[0]?.messageId);
    expect(await delivered({ Records: again === undefined ? [] : [again] })).toBe("done");

    const requests = [...sink.received(), ...sink.cutOff()];
    expect(requests).toHaveLength(2);
    expect(new Set(requests.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([job.operationId]));
    expect(sink.received().at(-1)?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    await expectEnd(job, "delivered");
  });

  test("is tried again when nobody listens", async () => {
    const { job, message } = await queued("http://127.0.0.1:1025/nobody");
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, mayBeDelivered: false });
  });

  test("is tried again on the schedule, and in the end is told once that there is no answer", async () => {
    schedule("100,1000");
    const { job, message } = await queued(sink.urlOf({ status: 500 }), { accessToken: "token" });

    const first = await delivered(message);
    expect(first).toBeGreaterThanOrEqual(80);
    expect(first).toBeLessThanOrEqual(120);
    await makeDue(job);
    const second = await delivered(message);
    expect(second).toBeGreaterThanOrEqual(800);
    expect(second).toBeLessThanOrEqual(1_200);
    await makeDue(job);
    expect(await delivered(message)).toBe(0);
    expect(sink.received().every(({ body }) => body.includes("SUPPORTED_AREA"))).toBe(true);
    expect(await delivered(message)).toBe("done");

    const [, , , told, ...others] = sink.received();
    expect(JSON.parse(told?.body ?? "")).toEqual(failure(job.operationId));
    expect(others).toEqual([]);
    await expectEnd(job, "abandoned");
    expect(output.text()).toContain("NCS-034");
  });

  test("is not told that there is no answer when it may hold one", async () => {
    schedule("0");
    const { job, message } = await queued(sink.urlOf("reset", { status: 500 }, { status: 204 }));
    expect(await delivered(message)).toBe(0);
    expect(await delivered(message)).toBe("done");
    expect(sink.received().map(({ body }) => JSON.parse(body).status)).toEqual([
      "SUPPORTED_AREA",
      "SUPPORTED_AREA",
    ]);
    await expectEnd(job, "abandoned");
  });

  test("says when it is to be tried again, and is not tried before, by no copy of the message", async () => {
    schedule("1000,1000");
    const busy = { status: 429, headers: { "retry-after": "700" } };
    const { job, message } = await queued(sink.urlOf(busy));
    await workplace.send("density-jobs", job);
    const copy = await workplace.receive("density-jobs");

    expect(await delivered(message)).toBe(700);
    for (const early of [await delivered(copy), await delivered(message)]) {
      expect(early).toBeGreaterThan(650);
      expect(early).toBeLessThanOrEqual(700);
    }

    expect(sink.received()).toHaveLength(1);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, state: "pending" });
  });

  test.each([410, 400, 401, 404, 301, 302, 307])("is left for good: %i", async (status) => {
    const elsewhere = sink.urlOf();
    const { job, message } = await queued(sink.urlOf({ status, headers: { location: elsewhere } }), {
      accessToken: "token",
    });

    expect(await delivered(message)).toBe("done");
    expect(await delivered(message)).toBe("done");

    expect(sink.received()).toHaveLength(1);
    expect(sink.received(elsewhere)).toEqual([]);
    await expectEnd(job, "refused");
  });

  test("is left for good when it is nowhere a sink may be", async () => {
    const url = sink.urlOf();
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "");
    const { job, message } = await queued(url, { accessToken: "token" });
    expect(await delivered(message)).toBe("done");
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "127.0.0.1/32:1024-65535");
    await expectEnd(job, "refused");
    expect(sink.received()).toEqual([]);
  });
});

/** Lets the time pass until the next attempt. */
async function makeDue(job: Awaited<ReturnType<typeof storeJob>>): Promise<void> {
  const stored = await storedJob(job.operationId);
  await putItem("density-jobs", { ...stored, leasedUntil: Date.now() - 1 }, {}, AbortSignal.timeout(10_000));
}

describe("a worker that is gone", () => {
  const lease = crypto.randomUUID();

  test("keeps others from its job as long as it may be there", async () => {
    const { job, message } = await queued(sink.urlOf(), {
      lease,
      leasedUntil: Date.now() + 200_000,
      attempts: 1,
      mayBeDelivered: true,
    });
    const before = await storedJob(job.operationId);

    const seconds = await delivered(message);

    expect(seconds).toBeGreaterThan(190);
    expect(seconds).toBeLessThanOrEqual(200);
    expect(sink.received()).toEqual([]);
    expect(await storedJob(job.operationId)).toEqual(before);
  });

  test("before it began an attempt leaves nothing behind but a slot, and that not for ever", async () => {
    const url = sink.urlOf();
    const { ofHost, takeSlot } = await import("../../functions/population-density/jobs.ts");
    const then = new Date(Date.now() - 400_000);
    const over = new Date(Date.now() - 70_000);
    for (const holder of ["one", "two"]) {
      await takeSlot(ofHost(new URL(url).host), holder, over, then, AbortSignal.timeout(10_000));
    }
    const { job, message } = await queued(url);
    expect(await delivered(message)).toBe("done");
    await expectEnd(job, "delivered");
  });

  test("in an attempt or right after it is replaced: the sink has the same again", async () => {
    const { job, message } = await queued(sink.urlOf(), {
      lease,
      leasedUntil: Date.now() - 1,
      attempts: 1,
      mayBeDelivered: true,
    });
    expect(await delivered(message)).toBe("done");
    expect(sink.received()[0]?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    await expectEnd(job, "delivered");
    expect(output.text()).toContain('"attempts":2');
  });

  test("may have delivered the answer: then the sink is never told that there is none", async () => {
    const { job, message } = await queued(sink.urlOf({ status: 500 }), {
      request: await brokenRequest(),
      lease,
      leasedUntil: Date.now() - 1,
      attempts: 1,
      mayBeDelivered: true,
    });
    expect(await delivered(message)).toBe("done");
    expect(sink.received()).toEqual([]);
    await expectEnd(job, "abandoned");
  });

  test("that was to record what came of its attempt is replaced when its lease is over", async () => {
    const url = sink.urlOf();
    const { job, message } = await queued(url);
    let updates = 0;
    workplace.tables.rule(({ operation, parameters }) => {
      if (operation !== "UpdateItem" || !JSON.stringify(parameters.Key).includes(job.operationId))
        return "pass";
      return ++updates > 1 ? "refuse" : "pass";
    });

    expect(await delivered(message)).toBe(30);
    workplace.tables.rule();
    expect(await delivered(message)).toBeGreaterThan(300);
    await makeDue(job);
    expect(await delivered(message)).toBe("done");

    expect(sink.received(url)).toHaveLength(2);
    expect(new Set(sink.received(url).map(({ body }) => body)).size).toBe(1);
    await expectEnd(job, "delivered");
  });

  test("that comes back when another has its lease says nothing of the job", async () => {
    for (const status of [204, 500]) {
      const { answer, after } = held();
      const url = sink.urlOf({ status, after });
      const { job, message } = await queued(url);
      const working = delivered(message);
      await expect.poll(() => sink.received(url)).toHaveLength(1);
      const stored = { ...(await storedJob(job.operationId)), lease: "another", attempts: 2 };
      await putItem("density-jobs", stored, {}, AbortSignal.timeout(10_000));
      answer();

      expect(await working).toBeGreaterThan(300);

      expect(await storedJob(job.operationId)).toEqual(stored);
      expect(await pendingOf(job.caller)).toEqual(new Set([job.operationId]));
      expect(output.text()).not.toContain("NCS-033");
    }
  });

  test("that cannot give its slot back has recorded its attempt all the same", async () => {
    const url = sink.urlOf({ status: 500 }, { status: 204 });
    workplace.tables.rule(({ operation }) => (operation === "DeleteItem" ? "refuse" : "pass"));
    const { job, message } = await queued(url);
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, leasedUntil: expect.any(Number) });
    expect(await delivered(message)).toBe("done");
    await expectEnd(job, "delivered");
    expect(output.text()).toContain("NCS-003");
  });

  test("that ended a job and did not count it off leaves a job that is over", async () => {
    const { job, message } = await queued(sink.urlOf());
    workplace.tables.rule(({ parameters }) =>
      JSON.stringify(parameters).includes("DELETE operations") ? "refuse" : "pass",
    );
    expect(await delivered(message)).toBe(30);
    workplace.tables.rule();
    expect(await delivered(message)).toBe("done");
    expect(sink.received()).toHaveLength(1);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "delivered" });
  });

  test.each(["hang", "drip"] as const)(
    "comes to the end of its time first: it records that and leaves neither lease nor slot: %s",
    async (answer) => {
      schedule("100");
      const url = sink.urlOf(answer, { status: 204 });
      const { job, message } = await queued(url);

      const seconds = await delivered(message, 11_500);

      expect(seconds).toBeGreaterThanOrEqual(80);
      expect(seconds).toBeLessThanOrEqual(120);
      expect(await freeSlots(url)).toBe(2);
      await makeDue(job);
      expect(await delivered(message)).toBe("done");
      await expectEnd(job, "delivered");
    },
  );
});

describe("an answer of AWS that is lost", () => {
  /** Lets one call through without its answer. */
  function loseOnce(part: string): () => boolean {
    let isLost = false;
    workplace.tables.rule(({ parameters }) => {
      if (isLost || !JSON.stringify(parameters).includes(part)) return "pass";
      isLost = true;
      return "lose";
    });
    return () => isLost;
  }

  test.each([
    ["that an attempt begins", "SET lease = "],
    ["that a slot is taken", "SET holder = "],
    ["that a job is over", "SET #state = "],
    ["that a slot is free again", "holder = :holder"],
    ["that an operation is counted off", "DELETE operations"],
  ])("changes nothing: %s", async (_, part) => {
    const url = sink.urlOf();
    const { job, message } = await queued(url);
    const isLost = loseOnce(part);

    expect(await delivered(message)).toBe("done");

    expect(isLost()).toBe(true);
    workplace.tables.rule();
    expect(sink.received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect((await storedJob(job.operationId))?.attempts).toBe(1);
    expect(await freeSlots(url)).toBe(2);
    expect(output.text()).toContain("NCS-033");
  });

  test("changes nothing: that there will be another attempt", async () => {
    schedule("100");
    const { job, message } = await queued(sink.urlOf({ status: 500 }));
    const isLost = loseOnce("SET mayBeDelivered");
    expect(await delivered(message)).toBeLessThanOrEqual(120);
    expect(isLost()).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, mayBeDelivered: false });
  });
});

/** What asks for a tile whose bytes are not a tile's. */
async function brokenRequest() {
  const { tile, request } = await storeDensities();
  await breakTile(tile);
  return request;
}

async function breakTile(tile: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  for (let day = 1; day <= 7; day++) {
    const item = { tile: `7/${tile}`, day: `week#${day}`, hours: Buffer.from("not a tile"), madeFrom: [] };
    await putItem("densities", item, {}, signal);
  }
}

describe("an answer that cannot be computed", () => {
  test("is told to the sink once, as such, and the job is given up", async () => {
    const { job, message } = await queued(sink.urlOf(), {
      request: await brokenRequest(),
      accessToken: "token",
    });

    expect(await delivered(message)).toBe(0);
    expect(sink.received()).toEqual([]);
    const again = await workplace.receive("density-jobs");
    expect(await delivered(again)).toBe("done");
    expect(await delivered(again)).toBe("done");

    const [told, ...others] = sink.received();
    expect(others).toEqual([]);
    expect(JSON.parse(told?.body ?? "")).toEqual(failure(job.operationId));
    expect(Object.keys(JSON.parse(told?.body ?? ""))).toEqual([
      "operationId",
      "status",
      "timedPopulationDensityData",
      "statusInfo",
    ]);
    expect(told?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer token",
      "x-correlator": job.correlator,
      "webhook-id": job.operationId,
    });
    await expectEnd(job, "abandoned");
    expect(output.text()).toContain("NCS-034");
  });

  test("is told until the sink has heard it, also when it could be computed meanwhile", async () => {
    const { tile, request } = await storeDensities();
    await breakTile(tile);
    const { job, message } = await queued(sink.urlOf({ status: 500 }, "reset", { status: 204 }), { request });
    expect(await delivered(message)).toBe(0);
    await storeDensities(tile);

    const disposals = [];
    while (disposals.at(-1) !== "done") disposals.push(await delivered(message));

    expect(disposals).toEqual([0, 0, "done"]);
    expect(sink.received().map(({ body }) => JSON.parse(body))).toEqual(
      Array.from({ length: 3 }, () => failure(job.operationId)),
    );
    await expectEnd(job, "abandoned");
  });

  test("is told no more when the sink does not hear it in all the time", async () => {
    const { job, message } = await queued(sink.urlOf({ status: 500 }), { request: await brokenRequest() });
    const disposals = [];
    while (disposals.at(-1) !== "done") disposals.push(await delivered(message));
    expect(disposals).toEqual([0, 0, 0, "done"]);
    await expectEnd(job, "abandoned");
  });

  test("is not told to a sink that may hold the answer of an earlier attempt", async () => {
    const { tile, request } = await storeDensities();
    const { job, message } = await queued(sink.urlOf("reset", { status: 204 }), { request });
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ mayBeDelivered: true });
    await breakTile(tile);

    expect(await delivered(message)).toBe("done");

    expect(sink.received()).toHaveLength(1);
    expect(sink.received()[0]?.body).toContain("SUPPORTED_AREA");
    await expectEnd(job, "abandoned");
  });

  test("is told to a sink that said of each earlier attempt that it did not take it", async () => {
    const { tile, request } = await storeDensities();
    const { job, message } = await queued(sink.urlOf({ status: 503 }, { status: 204 }), { request });
    expect(await delivered(message)).toBe(0);
    expect(await storedJob(job.operationId)).toMatchObject({ mayBeDelivered: false });
    await breakTile(tile);

    expect(await delivered(message)).toBe(0);
    expect(await delivered(message)).toBe("done");

    expect(JSON.parse(sink.received()[1]?.body ?? "")).toEqual(failure(job.operationId));
    await expectEnd(job, "abandoned");
  });

  test("does not leave the sink with the start of one that looks whole", async () => {
    const { job, message } = await queued(sink.urlOf(), { request: await brokenRequest() });
    await delivered(message);
    expect(sink.received()).toEqual([]);
    expect(sink.cutOff().every(({ body }) => body === "")).toBe(true);
    expect(await storedJob(job.operationId)).toMatchObject({ failing: true, mayBeDelivered: false });
  });
});

describe("a job that has waited so long that it is about to be forgotten", () => {
  const late = () => ({ expiresAt: Math.floor(Date.now() / 1_000) + 3_500, attempts: 4 });

  test("is given up while its sink can be told", async () => {
    const { job, message } = await queued(sink.urlOf(), late());
    expect(await delivered(message)).toBe("done");
    expect(sink.received().map(({ body }) => JSON.parse(body))).toEqual([failure(job.operationId)]);
    await expectEnd(job, "abandoned");
  });

  test("is not told so when its sink may hold the answer", async () => {
    const { job, message } = await queued(sink.urlOf(), { ...late(), mayBeDelivered: true });
    expect(await delivered(message)).toBe("done");
    expect(sink.received()).toEqual([]);
    await expectEnd(job, "abandoned");
  });
});

test("a job that is gone is done with, and the log says so", async () => {
  const job = newJob(sink.urlOf(), densities.request);
  await workplace.send("density-jobs", job);
  expect(await delivered(await workplace.receive("density-jobs"))).toBe("done");
  expect(output.text()).toContain("NCS-035");
  expect(output.text()).toContain(job.operationId);
  expect(sink.received()).toEqual([]);
});

describe("a store that does not answer", () => {
  const refuseDensities = () =>
    workplace.tables.rule(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));

  test("is asked again on the schedule; the sink notices nothing", async () => {
    schedule("100,0");
    const { job, message } = await queued(sink.urlOf());
    refuseDensities();
    const seconds = await delivered(message);
    expect(seconds).toBeGreaterThanOrEqual(80);
    expect(seconds).toBeLessThanOrEqual(120);
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, failing: false });
    expect(sink.received()).toEqual([]);

    workplace.tables.rule();
    await makeDue(job);
    expect(await delivered(message)).toBe("done");
    expect(sink.received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect(output.text()).toContain("DynamoDB: ");
  });

  test("for as long as the schedule goes is told to the sink", async () => {
    schedule("0");
    const { job, message } = await queued(sink.urlOf(), { accessToken: "token" });
    refuseDensities();

    expect(await delivered(message)).toBe(0);
    expect(await delivered(message)).toBe(0);
    expect(sink.received()).toEqual([]);
    expect(await delivered(message)).toBe("done");

    expect(sink.received().map(({ body }) => JSON.parse(body))).toEqual([failure(job.operationId)]);
    await expectEnd(job, "abandoned");
  });

  test("for as long as the schedule goes is not told to a sink that may hold the answer", async () => {
    schedule("0");
    const { job, message } = await queued(sink.urlOf("reset", { status: 204 }));
    expect(await delivered(message)).toBe(0);
    refuseDensities();
    expect(await delivered(message)).toBe("done");
    expect(sink.received()).toHaveLength(1);
    await expectEnd(job, "abandoned");
  });

  test("at all leaves the message where it is for a moment", async () => {
    const { job, message } = await queued(sink.urlOf());
    workplace.tables.rule(() => "refuse");
    expect(await delivered(message)).toBe(30);
    workplace.tables.rule();
    expect(sink.received()).toEqual([]);
    expect(await delivered(message)).toBe("done");
    await expectEnd(job, "delivered");
  });
});

describe("messages that come together", () => {
  test("are each their own: what cannot be read or fails does not keep the others", async () => {
    const good = [sink.urlOf(), sink.urlOf({ status: 500 })];
    const [one, other] = await Promise.all(
      good.map(async (url) => await storeJob(newJob(url, densities.request))),
    );
    const broken = newJob(sink.urlOf(), densities.request);
    await putItem(
      "density-jobs",
      { operationId: broken.operationId, state: 5 },
      {},
      AbortSignal.timeout(9_000),
    );
    const unknown = newJob(sink.urlOf(), densities.request);
    await workplace.send(
      "density-jobs",
      "poison",
      '{"version":2,"operationId":"x"}',
      ...[one, unknown, broken, other].flatMap((job) => (job === undefined ? [] : [job])),
    );
    const batch = await workplace.receive("density-jobs");
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
    expect(batch.Records.map((_, index) => workplace.hidden(batch, index))).toEqual([
      [0],
      [0],
      [],
      [],
      [],
      [0],
    ]);
    expect(sink.received(good[0])).toHaveLength(1);
    if (one !== undefined) await expectEnd(one, "delivered");
  });

  test("for one host are uploaded two at a time; the others come again soon, without an attempt counted", async () => {
    const { answer, after } = held();
    const urls = Array.from({ length: 3 }, () => sink.urlOf({ status: 204, after }));
    const jobs = [];
    for (const url of urls) jobs.push(await storeJob(newJob(url, densities.request)));
    await workplace.send("density-jobs", ...jobs);
    const batch = await workplace.receive("density-jobs");
    const sent = () => workplace.queues.calls.filter(({ operation }) => operation === "SendMessage");
    const before = sent().length;

    const running = run(deliver, batch);
    await expect.poll(() => sink.received()).toHaveLength(2);
    await expect.poll(() => sent().length).toBe(before + 1);
    answer();
    expect(await running).toEqual([]);

    const left = jobs.filter(({ sink: url }) => sink.received(url).length === 0);
    expect(left).toHaveLength(1);
    expect(sent().at(-1)?.parameters).toMatchObject({
      QueueUrl: workplace.addressOf("density-jobs"),
      MessageBody: JSON.stringify({ version: 1, operationId: left[0]?.operationId }),
      DelaySeconds: 5,
    });
    expect(await storedJob(left[0]?.operationId ?? "")).toMatchObject({ attempts: 0, state: "pending" });
    expect(sink.mostAtOnce()).toBe(2);
    for (const job of left) await workplace.send("density-jobs", job);
    expect(await run(deliver, await workplace.receive("density-jobs"))).toEqual([]);
    expect(sink.received()).toHaveLength(3);
  });

  test("for two hosts do not wait for each other", async () => {
    const second = await openSink();
    const { answer, after } = held();
    const blocking = [];
    for (let index = 0; index < 2; index++) {
      blocking.push((await queued(sink.urlOf({ status: 204, after }))).message);
    }
    const running = blocking.map((message) => run(deliver, message));
    await expect.poll(() => sink.received()).toHaveLength(2);
    const { job, message } = await queued(second.urlOf());
    expect(await delivered(message)).toBe("done");
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
    const url = sink.urlOf(...answers);
    const { job, message } = await queued(`${url}&canary=${canary}`, {
      accessToken: canary,
      ...(isBroken ? { request: await brokenRequest() } : {}),
    });
    const queueCalls = workplace.queues.calls.length;
    while ((await delivered(message)) !== "done");

    const lines = output.text().split("\n");
    expect(lines.filter((line) => line.includes(job.operationId)).length).toBeGreaterThan(1);
    expect(lines.some((line) => line.includes(job.correlator))).toBe(true);
    const written = output.text() + JSON.stringify(workplace.queues.calls.slice(queueCalls));
    const { pathname, host } = new URL(url);
    for (const secretText of [canary, pathname, host, "pplDensity", densities.tile]) {
      expect(written).not.toContain(secretText);
    }
    const slots = workplace.tables.calls.filter(({ parameters }) =>
      String(parameters.TableName).toLowerCase().includes("sinks"),
    );
    expect(JSON.stringify(slots)).not.toContain(host);
  });
});

test("an answer of megabytes arrives whole", async () => {
  const request = requestIn(boxIn(densities.tile, [0, 0], [31, 31]), 60);
  const { job, message } = await queued(sink.urlOf(), { request });

  expect(await delivered(message)).toBe("done");

  const body = sink.received()[0]?.body ?? "";
  expect(body.length).toBeGreaterThan(2_000_000);
  expect(body === deliveredBody(job.operationId, await synchronousBody(job))).toBe(true);
});

test("an answer of megabytes that breaks off is no whole answer", async () => {
  const request = requestIn(boxIn(densities.tile, [0, 0], [31, 31]), 168);
  const { job, message } = await queued(sink.urlOf("cut"), { request });

  expect(await delivered(message)).toBe(0);

  expect(sink.cutOff()).toHaveLength(1);
  expect(await storedJob(job.operationId)).toMatchObject({ mayBeDelivered: false, attempts: 1 });
});
