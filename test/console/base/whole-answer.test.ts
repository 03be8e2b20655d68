import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchWhole, successful } from "../../../console/base/whole-answer.ts";
import { listen } from "../../../tools/local/servers/listening-server.ts";
import { type CuttingProxy, openCuttingProxy } from "../../support/cutting-proxy.ts";

const answers: Readonly<Record<string, string>> = {
  "application/json": '{"status":"SUPPORTED_AREA"}',
  "application/geo+json": '{"type":"FeatureCollection","features":[]}',
  "application/x-ndjson": '{"geohash":"u05kq4k"}\n{"geohash":"u05kq4m"}\n{"geohash":"u05kq4q"}\n',
  "text/csv": "geohash,startTime\r\nu05kq4k,2026-11-27T10:00:00Z\r\n",
};

let proxy: CuttingProxy;
let close: () => Promise<void>;
beforeAll(async () => {
  const server = await listen(
    createServer(({ url = "" }, response) => {
      const type = url.slice(1);
      response.writeHead(200, { "content-type": type }).end(answers[type]);
    }),
    0,
  );
  proxy = await openCuttingProxy(server.url);
  close = async () => {
    await proxy.close();
    await server.close();
  };
});
afterAll(async () => await close());

describe.each(Object.keys(answers))("an answer as %s", (type) => {
  const ask = async () => successful(await fetchWhole(`${proxy.url}/${type}`), [type]);

  test(`${type} that arrives whole is given as it was sent, and parsed only if it is JSON`, async () => {
    proxy.damage();

    const { text, json } = await ask();

    expect(text).toBe(answers[type]);
    expect(json).toEqual(
      type.endsWith("json") && type !== "application/x-ndjson" ? JSON.parse(text) : undefined,
    );
  });

  test.each([
    ["cut", { status: 0, code: "BROKEN_OFF", message: "The answer broke off before its end." }],
    ["half", { status: 0, code: "BROKEN_OFF", message: "The answer broke off before its end." }],
    [
      "portal",
      {
        status: 200,
        code: "NOT_THE_SERVICE",
        message: "Something other than the service answered, such as the login page of a network.",
      },
    ],
  ] as const)(`${type} that is damaged (%s) is an ApiError`, async (damage, error) => {
    proxy.damage(damage);

    await expect(ask()).rejects.toMatchObject(error);
  });
});

test("a refusal of which half arrives keeps its status, so that a 401 still ends the session", async () => {
  const server = await listen(
    createServer((_, response) => {
      response.writeHead(401, { "content-type": "application/json" }).end('{"code":"UNAUTH');
    }),
    0,
  );

  const answer = await fetchWhole(server.url);

  expect(() => successful(answer)).toThrow("The service answered with status 401.");
  expect(answer.status).toBe(401);
  await server.close();
});

test("an aborted request stays an AbortError, whose asker says nothing", async () => {
  const controller = new AbortController();
  controller.abort();

  await expect(fetchWhole(proxy.url, { signal: controller.signal })).rejects.toMatchObject({
    name: "AbortError",
  });
});
