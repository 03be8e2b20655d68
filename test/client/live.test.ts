import { createServer } from "node:http";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createClient, login, type NetworkCapabilities, waitForOperation } from "../../client/index.ts";
import { nodeListener } from "../../client/node-listener.ts";
import { createReceiver } from "../../client/receiver.ts";
import type { PopulationDensityDelivery, PopulationDensityRequest } from "../../client/schema.d.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";

const accessToken = crypto.randomUUID();
const taken: PopulationDensityDelivery[] = [];
let client: NetworkCapabilities;
let sink: { readonly url: string; close(): Promise<void> };

beforeAll(async () => {
  const baseUrl = inject("url");
  const credentials = { emailaddress: "app@example.com", password: "correct horse battery staple" };
  client = createClient({ baseUrl, token: login({ baseUrl, ...credentials }) });
  const receive = createReceiver({ accessToken, onDelivery: (delivery) => void taken.push(delivery) });
  sink = await listen(createServer(nodeListener(receive)), 0);
});
afterAll(() => sink.close());

const hour = 3_600_000;
const fromNow = (hours: number) => new Date((Math.floor(Date.now() / hour) + hours) * hour).toISOString();

const request = (): PopulationDensityRequest => ({
  area: {
    areaType: "POLYGON",
    boundary: [
      { latitude: 45.754114, longitude: 4.860374 },
      { latitude: 45.753845, longitude: 4.863185 },
      { latitude: 45.75249, longitude: 4.861876 },
    ],
  },
  startTime: fromNow(1),
  endTime: fromNow(3),
});

test("the client logs in and reads what the service has", async () => {
  const { data } = await client.GET("/qualityondemand/qos-profiles/{name}", {
    params: { path: { name: "QOS_E" } },
  });
  expect(data?.status).toBe("ACTIVE");
  const unknown = await client.GET("/qualityondemand/qos-profiles/{name}", {
    params: { path: { name: "NOBODY" } },
  });
  expect(unknown.error).toMatchObject({ status: 404, code: "NOT_FOUND" });
});

test("an operation is followed to its end, and its receiver has the answer that is given at once", async () => {
  const body = request();
  const sinkCredential = { credentialType: "ACCESSTOKEN", accessTokenType: "bearer", accessToken } as const;
  const { response } = await client.POST("/populationdensitydata/retrieve", {
    body: { ...body, sink: `${sink.url}/densities`, sinkCredential },
  });
  expect(response.status).toBe(202);
  const operation = await waitForOperation(client, response.headers.get("location") ?? "", {
    deadlineMilliseconds: 30_000,
  });
  expect(operation).toMatchObject({
    state: "DELIVERED",
    lastAttempt: { outcome: "DELIVERED", httpStatus: 204 },
  });
  const { data } = await client.POST("/populationdensitydata/retrieve", { body });
  expect(taken).toEqual([{ ...data, operationId: operation.operationId }]);
});

test("an operation of nobody is an error of the service", async () => {
  await expect(waitForOperation(client, crypto.randomUUID())).rejects.toMatchObject({
    status: 404,
    code: "NOT_FOUND",
  });
});
