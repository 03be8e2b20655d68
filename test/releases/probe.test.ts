import { createServer } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { handler as rotate } from "../../functions/keys/rotate.ts";
import { faultIn, newVersions, probeEvent } from "../../functions/releases/probe.ts";
import { functionIds } from "../../infra/bundles.ts";
import { Misconfigured } from "../../shared/errors.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { sharedService } from "../support/service.ts";

const scopes = [...new Set(endpoints.flatMap(({ scope }) => scope ?? []))].join(" ");

test.each(functionIds)("the function %s answers the probe without a fault", async (functionId) => {
  const response = await fetch(sharedService.invocations, {
    method: "POST",
    body: JSON.stringify({ functionId, event: probeEvent(scopes, new Date()) }),
  });
  const payload = await response.text();
  // A function that throws is answered by this server with 500 and the error's text.
  expect({ status: response.status, payload }).toMatchObject({ status: 200 });
  expect(faultIn({ functionError: undefined, payload })).toBeUndefined();
});

test("the authorizer answers a self-test with null, which is no policy", async () => {
  const response = await fetch(sharedService.invocations, {
    method: "POST",
    body: JSON.stringify({ functionId: "authorizer/authorize", event: probeEvent(scopes, new Date()) }),
  });
  expect(await response.json()).toBeNull();
});

test("the rotation of keys reads and writes nothing for the probe, and refuses it without its configuration", async () => {
  const asked: unknown[] = [];
  const server = await listen(
    createServer((request, response) => {
      asked.push(request.headers["x-amz-target"]);
      response.writeHead(500).end();
    }),
    0,
  );
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });
  vi.stubEnv("AWS_ENDPOINT_URL", server.url);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
  vi.stubEnv("TABLE_SIGNING_KEYS", "signing-keys");
  vi.stubEnv("TOKEN_LIFETIME_SECONDS", "3600");

  await rotate(probeEvent(scopes, new Date()));
  expect(asked).toEqual([]);

  vi.stubEnv("TABLE_SIGNING_KEYS", "");
  await expect(rotate(probeEvent(scopes, new Date()))).rejects.toThrow(Misconfigured);
});

test.each([
  ["a function that returns nothing", undefined, "null", undefined],
  ["an answer of 404", undefined, '{"statusCode":404}', undefined],
  ["an answer of 503", undefined, '{"statusCode":503,"body":"secret"}', "status 503"],
  ["a streamed answer of 400", undefined, '{"statusCode":400}\0\0\0\0\0\0\0\0{"code":"X"}', undefined],
  ["a streamed answer of 500", undefined, '{"statusCode":500}\0\0\0\0\0\0\0\0{"code":"X"}', "status 500"],
  [
    "an authorizer that refuses everybody",
    "Unhandled",
    '{"errorType":"Error","errorMessage":"Unauthorized"}',
    "Error",
  ],
  [
    "an error",
    "Unhandled",
    '{"errorType":"SyntaxError","errorMessage":"secret","trace":["secret"]}',
    "SyntaxError",
  ],
  ["an end without an error", "Unhandled", "Task timed out", "Unhandled"],
  [
    "a worker that could not handle its message",
    undefined,
    '{"batchItemFailures":[{"itemIdentifier":"release-check"}]}',
    "message not handled",
  ],
  ["a worker that handled its message", undefined, '{"batchItemFailures":[]}', undefined],
])("the check of a release judges %s", (_, functionError, payload, fault) => {
  expect(faultIn({ functionError, payload })).toBe(fault);
});

const arn = (name: string, number: number) =>
  `arn:aws:lambda:eu-west-1:123456789012:function:${name}:${number}`;

test("the check of a release asks the versions whose number has grown, and those of new functions", () => {
  const before = [arn("a", 9), arn("b", 3)];
  expect(newVersions([arn("a", 10), arn("b", 3), arn("c", 1)], before)).toEqual([arn("a", 10), arn("c", 1)]);
});

test("the check of a release asks no version when a deployment is undone", () => {
  expect(newVersions([arn("a", 9), arn("b", 3)], [arn("a", 10), arn("b", 4), arn("c", 1)])).toEqual([]);
});
