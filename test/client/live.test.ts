import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, login, type NetworkCapabilities, waitForOperation } from "../../client/index.ts";
import { nodeListener } from "../../client/node-listener.ts";
import { createReceiver } from "../../client/receiver.ts";
import type { PopulationDensityDelivery, PopulationDensityRequest } from "../../client/schema.d.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { sharedService } from "../support/service.ts";

const accessToken = crypto.randomUUID();
const deliveries: PopulationDensityDelivery[] = [];
let client: NetworkCapabilities;
let sink: { readonly url: string; close(): Promise<void> };

beforeAll(async () => {
  const baseUrl = sharedService.url;
  const credentials = { emailaddress: "app@example.com", password: "correct horse battery staple" };
  client = createClient({ baseUrl, token: login({ baseUrl, ...credentials }) });
  const receive = createReceiver({ accessToken, onDelivery: (delivery) => void deliveries.push(delivery) });
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

test("createClient logs in and reads a QoS profile", async () => {
  const { data } = await client.GET("/qualityondemand/qos-profiles/{name}", {
    params: { path: { name: "QOS_E" } },
  });

  expect(data?.status).toBe("ACTIVE");
});

test("createClient returns the service's error for an unknown QoS profile", async () => {
  const { error } = await client.GET("/qualityondemand/qos-profiles/{name}", {
    params: { path: { name: "NOBODY" } },
  });

  expect(error).toMatchObject({ status: 404, code: "NOT_FOUND" });
});

test("waitForOperation returns the delivered operation after its sink received the answer", async () => {
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
  expect(deliveries).toEqual([{ ...data, operationId: operation.operationId }]);
});

test("waitForOperation throws the service's 404 for an unknown operation", async () => {
  await expect(waitForOperation(client, crypto.randomUUID())).rejects.toMatchObject({
    status: 404,
    code: "NOT_FOUND",
  });
});
