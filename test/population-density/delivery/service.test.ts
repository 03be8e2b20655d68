import { expect, test } from "vitest";
import { retrievePopulationDensity } from "../../../functions/population-density/contract.ts";
import { call, tokenWith } from "../../support/client.ts";
import { deliveredBody, storedJob } from "../../support/jobs.ts";
import { sharedService } from "../../support/service.ts";
import { useRequestAndSink } from "../../support/use-harness.ts";

const path = "/populationdensitydata/retrieve";
const scope = "population-density-data:read";
const patiently = { timeout: 30_000 };

const { request, sink } = useRequestAndSink();

async function ask(body: unknown, { client = crypto.randomUUID(), headers = {} } = {}) {
  const token = await tokenWith({ scope, sub: client, client_id: client });
  return await call(path, { method: "POST", body, token, headers });
}

async function accepted(...parameters: Parameters<typeof ask>): Promise<string> {
  const { status, body } = await ask(...parameters);
  expect(status).toBe(202);
  expect(Object.keys(body as object)).toEqual(["operationId"]);
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

test("POST /retrieve with a sink returns 202 and an id, and the sink receives the synchronous answer with that id", async () => {
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
});

test("POST /retrieve without x-correlator and credential: the sink receives the response's correlator and no token", async () => {
  const url = sink().urlOf();
  const { headers } = await ask({ ...request(), sink: url });
  await expect.poll(() => sink().received(url), patiently).toHaveLength(1);
  expect(sink().received(url)[0]?.headers["x-correlator"]).toBe(headers.get("x-correlator"));
  expect(sink().received(url)[0]?.headers).not.toHaveProperty("authorization");
});

test("POST /retrieve sent 5 times with one idempotency key returns one id, and the sink receives one answer", async () => {
  const url = sink().urlOf();
  const body = { ...request(), sink: url };
  const client = crypto.randomUUID();
  const headers = { "idempotency-key": "key-1" };

  const ids = await Promise.all(Array.from({ length: 4 }, () => accepted(body, { client, headers })));
  await expect.poll(() => sink().received(url), patiently).toHaveLength(1);
  ids.push(await accepted(body, { client, headers }));

  expect(new Set(ids).size).toBe(1);
  const other = { ...request(), sink: sink().urlOf() };
  const conflict = await ask(other, { client, headers });
  expect(conflict).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
  expect(JSON.stringify(conflict.body)).toContain("Idempotency-Key");
  const others = [
    await accepted(other, { client, headers: { "idempotency-key": "key-2" } }),
    await accepted(other, { headers }),
    await accepted(other, { client }),
    await accepted(other, { client }),
  ];
  expect(new Set([...ids, ...others]).size).toBe(5);
  expect(sink().received(url)).toHaveLength(1);
});

test.each([0, 256])(
  "POST /retrieve returns 400 INVALID_ARGUMENT for an idempotency key of %i characters",
  async (length) => {
    const headers = { "idempotency-key": "x".repeat(length) };
    const answer = await ask({ ...request(), sink: sink().urlOf() }, { headers });
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
