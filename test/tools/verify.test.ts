import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Envelope, TestStepFinished } from "@cucumber/messages";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { demoLogins } from "../../tools/demo-logins.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { scenarios } from "../../tools/verify/scenarios.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedService } from "../support/service.ts";

const folder = useOwnFolder();
let broken: ListeningServer;
beforeAll(async () => {
  broken = await listen(
    createServer((request, response) => {
      const isLogin = request.url?.endsWith("/authenticate") === true;
      response.end(JSON.stringify(isLogin ? { Data: { access_token: "x" } } : {}));
    }),
    0,
  );
});
afterAll(() => broken.close());

test("ncs verify exits with 0 when an area of the service answers as its contract says", async () => {
  const { code, stdout, stderr } = await runNcs(["verify", sharedService.url, "--only", "qos-profiles/"]);
  expect(stdout.split("\n").filter((line) => line.startsWith("FAILED"))).toEqual([]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [, passed = "0", skipped = "0"] = /(\d+) passed, 0 failed, (\d+) not run\n$/.exec(stdout) ?? [];
  expect(Number(passed)).toBeGreaterThan(10);
  expect(Number(skipped)).toBe(0);
});

test("ncs verify exits with 1 and reports failures as JSON when the service breaks its contract", async () => {
  const out = join(folder.path, "report.json");
  const options = ["--only", "qos-profiles/", "--report", "json", "--out", out];
  const { code, stderr } = await runNcs(["verify", broken.url, ...options]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/does not answer as the contract says: \d+ passed, \d+ failed, \d+ not run\n$/);
  const report = JSON.parse(await readFile(out, "utf8"));
  expect(report.failed).toBeGreaterThan(10);
  const failures = report.outcomes.map(({ failure }: { failure?: string }) => failure);
  expect(failures).toContain("expected 401 UNAUTHENTICATED, answered 200");
  expect(failures).toContainEqual(expect.stringMatching(/^the body is not as declared, at /));
});

test("ncs verify --sink has densities delivered, and says so in the same report", async () => {
  const received: string[] = [];
  const sink = await listen(
    createServer((request, response) => {
      received.push(`${request.method} ${request.url}`);
      request.resume().on("end", () => response.writeHead(204).end());
    }),
    0,
  );
  onTestFinished(async () => await sink.close());
  const options = ["--only", "keys/", "--sink", `${sink.url}/densities`];
  const { code, stdout } = await runNcs(["verify", sharedService.url, ...options]);
  expect(stdout).toContain("ok       sink/densities-delivered\n");
  expect(code).toBe(0);
  expect(received).toEqual(["POST /densities"]);
});

test("ncs verify writes a page of HTML that loads nothing and holds every scenario with its result", async () => {
  const out = join(folder.path, "report.html");
  await runNcs(["verify", broken.url, "--only", "get-by-name", "--report", "html", "--out", out]);
  const html = await readFile(out, "utf8");
  const [, messages = "[]"] = /window\.CUCUMBER_MESSAGES = (\[.*?\]);?\n?<\/script>/s.exec(html) ?? [];
  const steps = JSON.parse(messages).flatMap((one: Envelope) => one.testStepFinished ?? []);

  expect(html).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="http/);
  expect(steps.length).toBeGreaterThan(5);
  const failures = steps.map(({ testStepResult }: TestStepFinished) => testStepResult.message);
  expect(failures).toContain("expected 401 UNAUTHENTICATED, answered 200");
});

test("ncs verify cancels an operation at the service, and sends no token to another host", async () => {
  const asked: string[] = [];
  const other = await listen(
    createServer((request, response) => void response.end(asked.push(`other ${request.method}`) && "{}")),
    0,
  );
  const accepting = await listen(
    createServer((request, response) => {
      if (request.url?.endsWith("/authenticate")) return response.end('{"Data":{"access_token":"x"}}');
      asked.push(`${request.method} ${request.url}`);
      return response.writeHead(202, { location: `${other.url}/operation` }).end('{"operationId":"an-id"}');
    }),
    0,
  );
  onTestFinished(async () => void (await Promise.all([other.close(), accepting.close()])));
  await runNcs(["verify", accepting.url, "--only", "population-density/retrieve.202"]);
  expect(asked).toContain("DELETE /populationdensitydata/operations/an-id");
  expect(asked.filter((one) => one.startsWith("other"))).toEqual([]);
});

test("ncs verify skips requests for which there is no login, and names the login that they need", async () => {
  const { scenarios: sent, skipped } = await scenarios(demoLogins().slice(0, 1));
  expect(sent.every(({ login }) => login === undefined || login.EmailAddress === "app@example.com")).toBe(
    true,
  );
  expect(skipped).toContainEqual({
    name: "qos-profiles/retrieve.403-without-the-scope",
    reason: "needs a login without qos-profiles:read",
  });
});

test("ncs call sends an operation by its name, with each parameter in its place", async () => {
  const at = ["--url", sharedService.url, "--as", "app@example.com"];
  const found = await runNcs(["call", "getQosProfile", '{"name":"QOS_E"}', ...at]);
  expect(found).toMatchObject({ code: 0, stderr: expect.stringMatching(/^200 {2}x-correlator: /) });
  expect(JSON.parse(found.stdout)).toMatchObject({ name: "QOS_E" });

  const paged = await runNcs(["call", "listDensityOperations", '{"perPage":"no"}', ...at]);
  expect(paged).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("listDensityOperations was answered with 400"),
  });
  expect(JSON.parse(paged.stdout)).toMatchObject({ code: "INVALID_ARGUMENT" });

  const token = await runNcs(["token", ...at]);
  const subject = { device: { phoneNumber: "+34600000001" } };
  const args = ["call", "retrieveIdentifier", JSON.stringify(subject), "--token", token.stdout.trim()];
  expect(await runNcs([...args, ...at.slice(0, 2)])).toMatchObject({ code: 0 });
});

test("ncs token exits with 1 and the code of the refusal when the password is wrong", async () => {
  process.env.NCS_PASSWORD = "wrong";
  onTestFinished(() => void delete process.env.NCS_PASSWORD);
  const nobody = ["--as", `nobody-${Date.now()}@example.com`];
  const { code, stderr } = await runNcs(["token", ...nobody, "--url", sharedService.url]);
  expect(code).toBe(1);
  expect(stderr).toContain("401 UNAUTHENTICATED");
});
