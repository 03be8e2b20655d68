import { describe, expect, test, vi } from "vitest";
import { deliveredBody, storedJob, synchronousBody } from "../../support/jobs.ts";
import { someJob } from "../../support/some-job.ts";
import {
  brokenRequest,
  expectEnd,
  failure,
  held,
  makeDue,
  schedule,
  uploadsTo,
  useWorker,
} from "../../support/worker.ts";

// What the model of deliveries cannot see: the bytes at a sink, the tables' answers, and the times of messages.

const { delivered, densities, harness, output, queued, sink } = useWorker();

/** Expects a message to be hidden for a wait of 100 s, with its jitter. */
function expectHiddenFor100Seconds(seconds: unknown): void {
  expect(seconds).toBeGreaterThanOrEqual(80);
  expect(seconds).toBeLessThanOrEqual(120);
}

describe("a sink that answers 2xx", () => {
  test("a sink receives the bytes of the synchronous answer with the operation's id as first member", async () => {
    const url = sink().urlOf();
    const { job, message } = await queued(url, { accessToken: "a!token~" });

    expect(await delivered(message)).toBe("ack");

    const [request, ...others] = sink().received();
    expect(others).toEqual([]);
    expect(request?.body).toBe(deliveredBody(job.operationId, await synchronousBody(job)));
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      status: "SUPPORTED_AREA",
      timedPopulationDensityData: [{ cellPopulationDensityData: [{ pplDensity: 1_234 }, {}] }],
    });
    const { headers } = request ?? {};
    expect(headers).toEqual({
      host: new URL(url).host,
      "content-length": String(Buffer.byteLength(request?.body ?? "")),
      "content-type": "application/json",
      accept: "*/*",
      "user-agent": expect.stringMatching(/^network-capabilities-service\/[\d.]+$/),
      authorization: "Bearer a!token~",
      "x-correlator": job.correlator,
      "x-density-basis": "TYPICAL;hours=1",
      "webhook-id": job.operationId,
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
    });
    const age = Date.now() / 1_000 - Number(headers?.["webhook-timestamp"]);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60);
    await expectEnd(job, "delivered");
    expect(await uploadsTo(url)).toBe(0);
  });

  test("a job is stored as possibly delivered before its sink has the whole answer", async () => {
    const { answer, after } = held();
    const url = sink().urlOf({ status: 204, after });
    const { job, message } = await queued(url);
    const running = delivered(message);
    await expect.poll(() => sink().received(url)).toHaveLength(1);
    expect(await storedJob(job.operationId)).toMatchObject({ state: "pending", possiblyDelivered: true });
    answer();
    expect(await running).toBe("ack");
  });
});

describe("a sink that does not answer 2xx", () => {
  test("a sink at an address that is not allowed is not called, and the job ends as refused", async () => {
    const url = sink().urlOf();
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "");
    const { job, message } = await queued(url, { accessToken: "token" });
    expect(await delivered(message)).toBe("ack");
    vi.stubEnv("SINK_ALLOWED_NETWORKS", "127.0.0.1/32:1024-65535");
    await expectEnd(job, "refused");
    expect(sink().received()).toEqual([]);
  });
});

describe("an answer that cannot be computed", () => {
  test("a sink receives one failure for stored densities that cannot be read, and the job fails", async () => {
    const request = await brokenRequest();
    const { job, message } = await queued(sink().urlOf(), { request, accessToken: "token" });

    expect(await delivered(message)).toBe(0);
    expect(sink().received()).toEqual([]);
    for (let time = 1; time <= 2; time++) expect(await delivered(message)).toBe("ack");

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
    expect(notice?.headers).not.toHaveProperty("x-density-basis");
    await expectEnd(job, "failed");
    expect(output().text()).toContain("NCS-034");
  });

  test("a sink is not called while DynamoDB refuses to read densities, and receives the answer 100 s later", async () => {
    schedule("100,0");
    const { job, message } = await queued(sink().urlOf());
    harness().tables.inject(({ operation }) => (operation === "BatchGetItem" ? "refuse" : "pass"));
    expectHiddenFor100Seconds(await delivered(message));
    expect(await storedJob(job.operationId)).toMatchObject({ attempts: 1, mode: "answer" });
    expect(sink().received()).toEqual([]);

    harness().tables.inject();
    await makeDue(job);
    expect(await delivered(message)).toBe("ack");
    expect(sink().received()).toHaveLength(1);
    await expectEnd(job, "delivered");
    expect(output().text()).toContain("DynamoDB: ");
  });
});

test.each([
  ["that an attempt begins", "SET #lease = "],
  ["that a permit is taken", "ADD held "],
  ["that the sink may hold the answer", "SET #possiblyDelivered"],
  ["that a job is over and its place free", "SET #state = "],
])("a sink receives one answer when DynamoDB's response to this write is lost: %s", async (_, part) => {
  const url = sink().urlOf();
  const { job, message } = await queued(url);
  let lost = 0;
  harness().tables.inject(({ parameters }) =>
    JSON.stringify(parameters).includes(part) && lost++ === 0 ? "lose" : "pass",
  );

  expect(await delivered(message)).toBe("ack");

  expect(lost).toBeGreaterThan(0);
  harness().tables.inject();
  expect(sink().received()).toHaveLength(1);
  await expectEnd(job, "delivered");
  expect((await storedJob(job.operationId))?.attempts).toBe(1);
  expect(await uploadsTo(url)).toBe(0);
  expect(output().text()).toContain("NCS-033");
});

test("the message of a job that no longer exists is deleted, and logged with the operation's id", async () => {
  const job = someJob(sink().urlOf(), densities().request);
  await harness().send("density-jobs", job);
  expect(await delivered(await harness().receive("density-jobs"))).toBe("ack");
  expect(output().text()).toContain("NCS-035");
  expect(output().text()).toContain(job.operationId);
  expect(sink().received()).toEqual([]);
});
