import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { runNcs } from "../support/ncs.ts";

/** An account whose region has AWS's default quotas. */
const usual = {
  executions: 1_000,
  rate: 10_000,
  burst: 5_000,
  reads: 40_000,
  writes: 40_000,
  codeBytes: 75 * 2 ** 30,
  usedCodeBytes: 1,
};

const prod = settingsOf({});
const { rate } = totalThrottling(prod);

/** Requests a second that are counted for their callers: of every method that needs a token. */
const counted = (endpoints as readonly Endpoint[])
  .filter(({ scope }) => scope !== null)
  .flatMap((endpoint) =>
    pathsOf(endpoint).flatMap((path) => verbsOf(endpoint).map((verb) => `${path}/${verb}`)),
  )
  .reduce((sum, method) => sum + (stageThrottling(prod).named[method]?.rate ?? Number.NaN), 0);

/** Executions of logins, of both consumers of queues, of the sweep, and of the burst of one path. */
const executions = 50 + 50 + 1 + prod.throttling.burst;

let account: Partial<typeof usual> & { role?: string } = {};
let server: ListeningServer;

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

const asked = z.object({ QuotaCode: z.string() });

/** Answers as the API references of Lambda, API Gateway and Service Quotas say. */
async function answerTo(request: IncomingMessage): Promise<Answer> {
  const operation = String(request.headers["x-amz-target"] ?? `${request.method} ${request.url}`);
  const sent = await text(request);
  if (operation.startsWith("GET /2016-08-19/account-settings")) {
    const ConcurrentExecutions = account.executions;
    const AccountLimit = {
      CodeSizeZipped: 52_428_800,
      ConcurrentExecutions,
      TotalCodeSize: account.codeBytes,
    };
    return {
      body: { AccountLimit, AccountUsage: { FunctionCount: 3, TotalCodeSize: account.usedCodeBytes } },
    };
  }
  if (operation === "GET /account") {
    const throttleSettings = { rateLimit: account.rate, burstLimit: account.burst };
    return { body: { throttleSettings, features: ["UsagePlans"], cloudwatchRoleArn: account.role } };
  }
  const { QuotaCode } = asked.parse(JSON.parse(sent));
  const Value = QuotaCode === "L-CF0CBE56" ? account.reads : account.writes;
  const Quota = { ServiceCode: "dynamodb", QuotaCode, Value, Adjustable: true };
  // The writes of this account were never changed: only the default is there.
  if (operation.endsWith(".GetServiceQuota") && QuotaCode === "L-AB614373") {
    return { status: 400, body: { __type: "NoSuchResourceException", Message: "not there" } };
  }
  return { body: { Quota } };
}

beforeAll(async () => {
  const http = createServer(async (request, response) => {
    const { status = 200, body } = await answerTo(request);
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  server = await listen(http, 0);
});
afterAll(() => server.close());

beforeEach(() => {
  account = { ...usual };
  const shell = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
  vi.stubEnv("AWS_ENDPOINT_URL", server.url);
});
afterEach(() => vi.unstubAllEnvs());

describe("`ncs preflight`", () => {
  test("ncs preflight exits with 0 for an account with enough of each quota", async () => {
    const { code, stdout, stderr } = await runNcs(["preflight"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.filter((line) => line.startsWith("ok "))).toHaveLength(6);
    expect(stdout).toContain(`requests a second to APIs: prod can use ${rate}, the account has 10000`);
    expect(stdout).toContain(`(quotas of callers): prod can use ${counted}, the account has 40000`);
    expect(lines.at(-1)).toBe("Everything in the account and region shares these quotas.");
  });

  test("ncs preflight exits with 1 for a new account and lists each quota to raise with its command", async () => {
    account = { ...usual, executions: 10, rate: 2_500, burst: 1_250 };
    const { code, stdout, stderr } = await runNcs(["preflight"]);
    expect(code).toBe(1);
    expect(stderr).toBe("3 of 6 quotas are lower than what prod can use\n");
    expect(stdout).toContain(
      `raise  concurrent executions of functions: prod can use ${executions}, the account has 10\n`,
    );
    expect(stdout).toContain(`--service-code lambda --quota-code L-B99A9384 --desired-value ${executions}\n`);
    expect(stdout).toContain(
      `--service-code apigateway --quota-code L-8A5B8E43 --desired-value ${rate}, or `,
    );
    expect(stdout).toContain("deploy with a lower throttlingBurst");
  });

  test.each([
    ["dev", 200],
    ["prod", 300],
  ])(
    "ncs preflight exits with 0 for %s in a small region at the rate that operators are told to use",
    async (stage, executions) => {
      account = { ...usual, executions, rate: 2_500, burst: 1_250 };
      const [, throttlingRate] =
        /`-c throttlingRate=(\d+)`/.exec(readFileSync("docs/operating.md", "utf8")) ?? [];
      const { code, stdout } = await runNcs([
        "preflight",
        "-c",
        `stage=${stage}`,
        "-c",
        `throttlingRate=${throttlingRate}`,
      ]);
      expect(code).toBe(0);
      const { rate } = totalThrottling(settingsOf({ stage, throttlingRate }));
      expect(stdout).toContain(`requests a second to APIs: ${stage} can use ${rate}, the account has 2500`);
    },
  );

  test("ncs preflight counts the code that other functions store", async () => {
    account.usedCodeBytes = 74.5 * 2 ** 30;
    const { code, stdout } = await runNcs(["preflight"]);
    expect(code).toBe(1);
    expect(stdout).toContain("with a year of releases: prod can use 76, the account has 75\n");
    expect(stdout).toContain("--service-code lambda --quota-code L-2ACBD22F --desired-value 76, or delete");
  });

  test("ncs preflight counts reserved executions", async () => {
    const reserving = ["preflight", "-c", "reservedConcurrency=profile/authenticate:900"];
    expect((await runNcs(reserving)).stdout).toContain(
      `prod can use ${executions - 50 + 900}, the account has 1000`,
    );
  });

  test("ncs preflight counts the executions of a distributed import", async () => {
    const importing = ["preflight", "-c", "densityImport=true"];
    expect((await runNcs(importing)).stdout).toContain(
      `prod can use ${executions + 40}, the account has 1000`,
    );
  });

  test("ncs preflight warns before the account's role for API Gateway's logs is replaced", async () => {
    account.role = "arn:aws:iam::123456789012:role/logs";
    expect((await runNcs(["preflight"])).stdout).toContain("-c gatewayLogRole=existing");
    const { stdout } = await runNcs(["preflight", "-c", "gatewayLogRole=existing"]);
    expect(stdout).not.toContain("note ");
  });

  test.each([
    [["-c", "throttlingRate"], "throttlingRate must be name=value"],
    [["-c", "stage=staging"], "stage must be dev or prod"],
  ])("ncs preflight %j exits with 1 and the reason", async (args, message) => {
    const { code, stderr } = await runNcs(["preflight", ...args]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${message}\n` });
  });

  test("ncs preflight exits with 1 and names the quota that AWS does not return", async () => {
    delete account.burst;
    const { code, stderr } = await runNcs(["preflight"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "AWS does not say API Gateway's burst\n" });
  });
});
