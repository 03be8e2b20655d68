import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { CreateQueueCommand, GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pages } from "../../tools/local/pages.ts";
import type { BackingServer } from "../../tools/local/servers/backing-server.ts";
import { openDatabase } from "../../tools/local/servers/database.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { type LocalService, startLocalService } from "../../tools/local/service.ts";
import { useQueueServer } from "./use-queue-server.ts";

const { server: queues, client } = useQueueServer();
let database: BackingServer;
let service: LocalService;
let shell: Record<string, string>;
let pages: Pages;
let QueueUrl = "";

const start = (port: number) => {
  const logs = { write: () => true };
  return startLocalService({ port, environment: shell, deadlineFactor: 3, pages, logs });
};

beforeAll(async () => {
  pages = new Pages(() => {});
  // Their build takes half a minute.
  pages.built = async () => writeFileSync(join(pages.folder, "index.html"), "<title>a map</title>");
  database = await openDatabase(undefined);
  const Attributes = { VisibilityTimeout: "777" };
  const made = await client().send(new CreateQueueCommand({ QueueName: "density-jobs", Attributes }));
  QueueUrl = made.QueueUrl ?? "";
  shell = {
    AWS_ACCESS_KEY_ID: "mine",
    AWS_SECRET_ACCESS_KEY: "hidden",
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    AWS_ENDPOINT_URL_SQS: queues().endpoint,
    RATE_LIMIT_PER_MINUTE: "99",
    PRIVATE: "of the shell",
  };
  service = await start(0);
});
afterAll(async () => {
  await service.close();
  await database.close();
  pages.remove();
});

test("the shell names servers, keys and a rate limit → every function has them, and nothing else of the shell", () => {
  const { PRIVATE: _, ...given } = shell;
  for (const { id } of service.declarations.functions) {
    expect(service.environmentOf(id)).toMatchObject({ ...given, TZ: ":UTC" });
    for (const name of ["PRIVATE", "PATH", "HOME"])
      expect(service.environmentOf(id)).not.toHaveProperty(name);
  }
  const AWS_ENDPOINT_URL_SECRETS_MANAGER = service.secretsEndpoint;
  const ofOne = { AWS_ENDPOINT_URL_SECRETS_MANAGER, QUEUE_DENSITY_JOBS: QueueUrl };
  expect(service.environmentOf("population-density/retrieve")).toMatchObject(ofOne);
});

test("the shell's SQS has a queue of the service already → its settings are left as they are", async () => {
  const read = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["VisibilityTimeout"] });
  expect((await client().send(read)).Attributes).toEqual({ VisibilityTimeout: "777" });
});

test("a busy machine's factor is 3 → functions have three times as long and know it, but not one that consumes a queue", () => {
  const limitsOf = (wanted: string) =>
    service.declarations.functions.flatMap(({ id, timeoutSeconds }) =>
      id === wanted ? [timeoutSeconds, service.environmentOf(id).DEADLINE_FACTOR] : [],
    );
  expect(limitsOf("profile/authenticate")).toEqual([30, "3"]);
  expect(limitsOf("population-density/deliver")).toEqual([300, undefined]);
});

test("the service listens → it publishes the key of its first rotation", async () => {
  const published = async () => (await fetch(`${service.url}/.well-known/jwks.json`)).json();
  // A busy machine answers 503 while it loads the other functions.
  await expect.poll(published).toMatchObject({ keys: [{ kty: "EC" }] });
});

test("GET /llms.txt → it is answered before the pages are built, and GET / when they are", async () => {
  const textAt = async (path: string) => (await fetch(`${service.url}${path}`)).text();
  expect(await textAt("/llms.txt")).toContain(`SERVICE=${service.url}`);
  expect(existsSync(join(pages.folder, "index.html"))).toBe(false);
  expect(await textAt("/")).toBe("<title>a map</title>");
});

test("the service starts on a port that is in use → it names the port", async () => {
  const taken = await listen(createServer(), 0);
  const port = Number(new URL(taken.url).port);
  await expect(start(port)).rejects.toThrow(`Port ${port} of 127.0.0.1 is already in use`);
  await taken.close();
});

// The last of the tests: it closes the service.
test("the service closes twice while a request is sent → the request is cut off, and nothing listens afterwards", async () => {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) });
  const sent = new Request(`${service.url}/v3/profile/authenticate`, {
    method: "POST",
    body,
    duplex: "half",
  });
  const underWay = fetch(sent).catch(() => "cut");
  await fetch(`${service.url}/llms.txt`);
  await Promise.all([service.close(), service.close()]);
  expect(await underWay).toBe("cut");
  await expect(fetch(service.url)).rejects.toThrow();
});
