import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { stageThrottling, totalThrottling } from "../../infra/throttling.ts";
import { type Endpoint, pathsOf, verbsOf } from "../../shared/endpoint.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();

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

const rateOf = (paths: RegExp) =>
  Object.entries(stageThrottling(prod).named)
    .filter(([method]) => paths.test(method))
    .reduce((sum, [, { rate }]) => sum + rate, 0);

/** Of those for densities and their summaries, which read the same tiles. */
const densities = rateOf(/^\/population-?density.*\/(?:retrieve|summary)\/POST$/);

/** Of those about a subscriber, each of which is recorded. */
const recorded = rateOf(/^\/(?:quality|qos|number|device)/);

/** Executions of logins, of deliveries, of the sweep, and of all other requests: 0.02 s each, 0.06 s for densities. */
const executions = 50 + 50 + 1 + Math.ceil(0.02 * (counted - densities) + 0.06 * densities);

/** Warm enough for all that the API of prod lets through. */
const warm = { reads: 20_000, writes: 10_000 };

/** What the tables bear, by their names; others do not exist. */
let tables: Record<string, typeof warm> = {};
let account: Partial<typeof usual> & { role?: string } = {};
let server: ListeningServer;

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

const asked = z.object({ QuotaCode: z.string() });
const described = z.object({ TableName: z.string() });

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
  if (operation.endsWith(".DescribeTable")) {
    const { TableName } = described.parse(JSON.parse(sent));
    const { reads, writes } = tables[TableName] ?? {};
    if (reads === undefined || writes === undefined) {
      return { status: 400, body: { __type: "ResourceNotFoundException", message: "not there" } };
    }
    const WarmThroughput = { ReadUnitsPerSecond: reads, WriteUnitsPerSecond: writes, Status: "ACTIVE" };
    return { body: { Table: { TableName, TableStatus: "ACTIVE", WarmThroughput } } };
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
  tables = {
    "NetworkCapabilities-access-records": warm,
    "NetworkCapabilities-densities": warm,
    "NetworkCapabilities-quotas": warm,
  };
  const shell = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
  vi.stubEnv("AWS_ENDPOINT_URL", server.url);
  // Other files of tests may have set it, and it takes precedence.
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
});
afterEach(() => vi.unstubAllEnvs());

test("ncs preflight exits with 0 for an account with enough of each quota", async () => {
  const { code, stdout, stderr } = await runNcs(["preflight"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  expect(lines.filter((line) => line.startsWith("ok "))).toHaveLength(9);
  expect(stdout).toContain(`requests a second to APIs: prod can use ${rate}, the account has 10000`);
  expect(stdout).toContain(`(quotas of callers): prod can use ${counted}, the account has 40000`);
  expect(lines.at(-1)).toBe("Everything in the account and region shares its quotas.");
});

test("ncs preflight exits with 1 for a new account and lists each quota to raise with its command", async () => {
  account = { ...usual, executions: 10, rate: 2_500, burst: 1_250 };
  const { code, stdout, stderr } = await runNcs(["preflight"]);
  expect(code).toBe(1);
  expect(stderr).toBe("3 of 9 are lower than what prod can use\n");
  expect(stdout).toContain(
    `raise  concurrent executions of functions: prod can use ${executions}, the account has 10\n`,
  );
  expect(stdout).toContain(`--service-code lambda --quota-code L-B99A9384 --desired-value ${executions}\n`);
  expect(stdout).toContain(`--service-code apigateway --quota-code L-8A5B8E43 --desired-value ${rate}, or `);
  expect(stdout).toContain("deploy with a lower throttlingBurst");
});

test.each([
  ["dev", 200],
  ["prod", 300],
])(
  "ncs preflight exits with 0 for %s in a small region with throttlingRate=20",
  async (stage, executions) => {
    account = { ...usual, executions, rate: 2_500, burst: 1_250 };
    const throttlingRate = "20";
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

test("ncs preflight exits with 1 when a new table bears less than the API lets through, and says what to warm", async () => {
  tables = {};
  const { code, stdout, stderr } = await runNcs(["preflight"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "1 of 9 are lower than what prod can use\n" });
  expect(stdout).toContain(
    `ok     warm read units a second of densities: prod can use ${densities * 2}, the table has 12000\n`,
  );
  expect(stdout).toContain(
    `raise  warm write units a second of quotas: prod can use ${counted}, the table has 4000\n`,
  );
  expect(stdout).toContain(
    `ok     warm write units a second of access-records: prod can use ${recorded}, the table has 4000\n`,
  );
  expect(stdout).toContain(`deploy with -c warmThroughput.quotas=12000:${counted}, or `);
  const percent = Math.floor((100 * 4_000) / counted);
  expect(stdout).toContain(
    `first  warm write units a second of quotas would throttle first, at ${percent} % of the requests that`,
  );
});

test("ncs preflight takes expected requests, and says what would throttle first and when", async () => {
  tables["NetworkCapabilities-densities"] = { reads: 13_000, writes: 4_000 };
  const expecting = (perSecond: number) =>
    runNcs(["preflight", "--densities", String(perSecond), "--others", "1000"]);
  const { code, stdout } = await expecting(6_000);
  expect(code).toBe(0);
  expect(stdout).toContain("warm read units a second of densities: prod needs 12000, the table has 13000\n");
  expect(stdout).toContain("requests a second to APIs: prod needs 7000, the account has 10000\n");
  expect(stdout).toContain(
    "first  warm read units a second of densities would throttle first, at 108 % of the expected requests\n",
  );
  const more = await expecting(7_000);
  expect({ code: more.code, stderr: more.stderr }).toEqual({
    code: 1,
    stderr: "1 of 9 are lower than what prod needs\n",
  });
  expect(more.stdout).toContain("deploy with -c warmThroughput.densities=14000:4000, or ");
});

test("ncs preflight says that a table of access records would throttle first where only that of quotas is warm", async () => {
  delete tables["NetworkCapabilities-access-records"];
  const { code, stdout } = await runNcs(["preflight", "--densities", "0", "--others", "5000"]);
  expect(code).toBe(1);
  expect(stdout).toContain("deploy with -c warmThroughput.access-records=12000:5000, or ");
  expect(stdout).toContain(
    "first  warm write units a second of access-records would throttle first, at 80 % ",
  );
});

test.each([
  ["reservedConcurrency=profile/authenticate:900", executions - 50 + 900],
  ["densityImport=true", executions + 40],
])("ncs preflight counts the executions that %s adds: %i", async (setting, all) => {
  const { stdout } = await runNcs(["preflight", "-c", setting]);
  expect(stdout).toContain(`prod can use ${all}, the account has 1000`);
});

test.each([
  [5_000, "bound them with -c reservedConcurrency=authorizer/authorize:100,population-density/retrieve:250,"],
  [600, "reservations that bound them need an account of"],
])("ncs preflight counts 1,000 executions of slow readers, for an account of %i: %s", async (of, advice) => {
  account.executions = of;
  const { stdout } = await runNcs(["preflight"]);
  expect(stdout).toContain("20 callers that read slowly can hold 1000 executions");
  expect(stdout).toContain(advice);
});

test("ncs preflight refuses to forget the table and the issuer of the deployed stage, except with --forget", async () => {
  const settings = { TOKEN_ISSUER: "https://api.operator.example", "tables.profiles": "restored" };
  const deployed = await folder.write(
    "deployed.json",
    JSON.stringify({ Metadata: { "NetworkCapabilities::Settings": settings }, Resources: {} }),
  );
  const run = async (...more: string[]) => await runNcs(["preflight", "--deployed", deployed, ...more]);
  const { code, stderr } = await run("-c", "TOKEN_ISSUER=https://api.operator.example");
  expect(code).toBe(1);
  expect(stderr).toContain("tables.profiles was deployed as restored, and would be its default\n");
  expect(stderr).not.toContain("TOKEN_ISSUER");
  expect((await run()).stderr).toContain("TOKEN_ISSUER was deployed as https://api.operator.example");
  expect((await run("--forget")).code).toBe(0);
});

test("ncs cost adds up by part what 500 densities and 2,000 others a second cost a month", async () => {
  const { code, stdout } = await runNcs(["cost", "--densities", "500", "--others", "2000"]);
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
  const [saved, all, ...parts] = lines.reverse().map(([, dollars]) => Number(dollars));
  expect(parts.reduce((sum, part) => (sum ?? 0) + (part ?? 0), 0)).toBeCloseTo(all ?? Number.NaN, -1);
  // 6,480 million requests: 333 at 3.50 and the others at 2.80.
  expect(stdout).toContain("18377.10");
  expect(saved).toBeGreaterThan(500);
});

test("ncs preflight warns before the account's role for API Gateway's logs is replaced", async () => {
  account.role = "arn:aws:iam::123456789012:role/logs";
  expect((await runNcs(["preflight"])).stdout).toContain("-c gatewayLogRole=existing");
  const { stdout } = await runNcs(["preflight", "-c", "gatewayLogRole=existing"]);
  expect(stdout).not.toContain("note ");
});

test.each([
  [["-c", "throttlingRate"], "throttlingRate must be name=value"],
  [["--densities", "10"], "--densities and --others must be given together"],
  [["-c", "stage=staging"], "stage must be dev or prod"],
])("ncs preflight %j exits with 1 and the reason", async (args, message) => {
  const { code, stderr } = await runNcs(["preflight", ...args]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${message}\n` });
});
