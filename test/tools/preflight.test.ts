import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { recordedSettings } from "../../infra/deployed-settings.ts";
import { undeployedSettings } from "../../infra/settings.ts";
import {
  type AccountQuotas,
  checksOf,
  type ExpectedRequests,
  firstToThrottle,
  type StageTables,
  streamsOf,
} from "../../tools/cli/preflight-rules.ts";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";

/** An account whose region has AWS's default quotas, but more executions. */
const usual: AccountQuotas = {
  executions: 2_000,
  codeBytes: 75 * 2 ** 30,
  usedCodeBytes: 1,
  requestRate: 10_000,
  requestBurst: 5_000,
  tableReadUnits: 40_000,
  tableWriteUnits: 40_000,
  gatewayMayLog: false,
};
const small = { requestRate: 2_500, requestBurst: 1_250 };

/** Warm enough for all that the API of prod lets through. */
const warm = { reads: 20_000, writes: 10_000 };
const allWarm: StageTables = { "access-records": warm, densities: warm, quotas: warm };
const newTables: StageTables = { "access-records": undefined, densities: undefined, quotas: undefined };

interface Case {
  readonly settings?: Readonly<Record<string, string>>;
  readonly account?: Partial<AccountQuotas>;
  readonly tables?: Partial<StageTables>;
  readonly expected?: ExpectedRequests;
}

const checksIn = ({ settings = {}, account = {}, tables = {}, expected }: Case) =>
  checksOf(settingsOf(settings), { ...usual, ...account }, { ...allWarm, ...tables }, expected);

const expecting = (densities: number, others: number): Case => ({
  expected: { densities, others },
  tables: { densities: { reads: 13_000, writes: 4_000 } },
});
const newRecords: Case = {
  tables: { "access-records": undefined },
  expected: { densities: 0, others: 5_000 },
};
const warmWrites = (name: string) => `warm write units a second of ${name}`;

test.each<[what: string, of: Case, low: readonly (readonly [quota: string, remedy: RegExp])[]]>([
  ["a usual account", {}, []],
  [
    "AWS's default of 1,000 executions",
    { account: { executions: 1_000 } },
    [["concurrent executions of functions", /--desired-value 1\d{3}$/]],
  ],
  [
    "a new account",
    { account: { executions: 10, ...small } },
    [
      [
        "concurrent executions of functions",
        /--service-code lambda --quota-code L-B99A9384 --desired-value \d+$/,
      ],
      [
        "requests a second to APIs",
        /--quota-code L-8A5B8E43 --desired-value \d+, or deploy with a lower throttlingRate/,
      ],
      ["requests at once to APIs", /^deploy with a lower throttlingBurst/],
    ],
  ],
  [
    "dev in a small region with throttlingRate=20",
    { settings: { stage: "dev", throttlingRate: "20" }, account: { executions: 200, ...small } },
    [],
  ],
  [
    "prod in a small region with throttlingRate=20",
    { settings: { throttlingRate: "20" }, account: { executions: 300, ...small } },
    [],
  ],
  [
    "new tables",
    { tables: newTables },
    [
      [warmWrites("quotas"), /"warmThroughput\.quotas": "12000:\d+", or /],
      [warmWrites("access-records"), /"warmThroughput\.access-records": "12000:5160", or /],
    ],
  ],
  ["6,000 expected densities", expecting(6_000, 1_000), []],
  [
    "7,000 expected densities",
    expecting(7_000, 1_000),
    [
      [
        "warm read units a second of densities",
        /^deploy with "warmThroughput\.densities": "14000:4000", or /,
      ],
    ],
  ],
  [
    "a new table of access records",
    newRecords,
    [[warmWrites("access-records"), /^deploy with "warmThroughput\.access-records": "12000:5000", or /]],
  ],
])(
  "preflight for %s names exactly the quotas that are too low, each with what to do about it",
  (_, of, low) => {
    const found = checksIn(of).filter(({ needed, allowed }) => needed > allowed);
    expect(found.map(({ quota, remedy }) => [quota, remedy])).toEqual(
      low.map(([quota, remedy]) => [quota, expect.stringMatching(remedy)]),
    );
  },
);

test.each<[Case, quota: string, percent: number]>([
  [expecting(6_000, 1_000), "warm read units a second of densities", 108],
  [newRecords, warmWrites("access-records"), 80],
])(
  "preflight names the quota with the least room as the first to throttle: case %#",
  (of, quota, percent) => {
    const first = firstToThrottle(checksIn(of));
    expect(first?.quota).toBe(quota);
    expect(Math.floor((100 * (first?.allowed ?? 0)) / (first?.needed ?? 1))).toBe(percent);
  },
);

test("preflight with 900 executions reserved for the login needs 850 more of functions than with the usual 50", () => {
  const needed = (of: Case) => checksIn(of).find(({ quota }) => quota.includes("executions"))?.needed ?? 0;
  const settings = { reservedConcurrency: "profile/authenticate:900" };
  expect(needed({ settings }) - needed({})).toBe(900 - 50);
});

test("preflight counts an execution for ten requests a second, authorizers and tokens included, and two read units for densities", () => {
  const needed = (densities: number, others: number, settings = {}) =>
    Object.fromEntries(
      checksIn({ settings, expected: { densities, others } }).map((check) => [check.quota, check.needed]),
    );
  const tokens = { TOKEN_ENDPOINT: "on", TOKEN_ISSUER: "https://api.operator.example", tokenRate: "2000" };
  const [none, some] = [needed(0, 0), needed(100_000, 50_000)];
  const executions = "concurrent executions of functions";
  expect((some[executions] ?? 0) - (none[executions] ?? 0)).toBe(30_000);
  const quotas = warmWrites("quotas");
  const issuing = needed(100_000, 50_000, tokens);
  expect((issuing[executions] ?? 0) - (some[executions] ?? 0)).toBe(200);
  expect((issuing[quotas] ?? 0) - (some[quotas] ?? 0)).toBe(2_000);
  expect(some["warm read units a second of densities"]).toBe(200_000);
  expect(some[warmWrites("quotas")]).toBe(150_000);
});

test("preflight bounds the 1,000 executions of 20 slow readers in an account of 5,000, not of 600, and reserves one of the authorizer for ten requests", () => {
  const bounded = streamsOf(settingsOf({}), { executions: 5_000 });
  expect(bounded).toMatchObject({ callers: 20, executions: 1_000 });
  expect(bounded.setting).toMatch(/^authorizer\/authorize:754,population-density\/retrieve:250,/);
  const expected = { densities: 1_000, others: 3_000 };
  const fewer = streamsOf(settingsOf({}), { executions: 5_000 }, expected);
  expect(fewer.setting).toMatch(/^authorizer\/authorize:400,/);
  expect(streamsOf(settingsOf({}), { executions: 600 }).setting).toBeUndefined();
});

const folder = useOwnFolder();
let account: AccountQuotas;
let tables: Readonly<Record<string, typeof warm>>;
/** Of the table of jobs, if it exists. */
let indexStatus: Readonly<Record<string, string>> | undefined;
let server: ListeningServer;

/** Answers as the API references of Lambda, API Gateway, DynamoDB and Service Quotas say. */
async function answerTo(request: IncomingMessage): Promise<object> {
  const operation = String(request.headers["x-amz-target"] ?? `${request.method} ${request.url}`);
  const { TableName = "", QuotaCode } = JSON.parse((await text(request)) || "{}");
  if (operation.startsWith("GET /2016-08-19/account-settings")) {
    const AccountLimit = { ConcurrentExecutions: account.executions, TotalCodeSize: account.codeBytes };
    return { AccountLimit, AccountUsage: { FunctionCount: 3, TotalCodeSize: account.usedCodeBytes } };
  }
  if (operation === "GET /account") {
    const throttleSettings = { rateLimit: account.requestRate, burstLimit: account.requestBurst };
    return {
      throttleSettings,
      cloudwatchRoleArn: account.gatewayMayLog ? "arn:aws:iam::1:role/logs" : undefined,
    };
  }
  if (operation.endsWith(".DescribeTable") && indexStatus !== undefined && /-density-jobs$/.test(TableName)) {
    const GlobalSecondaryIndexes = Object.entries(indexStatus).map(([IndexName, IndexStatus]) => ({
      IndexName,
      IndexStatus,
    }));
    return { Table: { TableName, GlobalSecondaryIndexes } };
  }
  if (operation.endsWith(".DescribeTable")) {
    const { [TableName]: units } = tables;
    if (units === undefined) return { __type: "ResourceNotFoundException" };
    const WarmThroughput = { ReadUnitsPerSecond: units.reads, WriteUnitsPerSecond: units.writes };
    return { Table: { TableName, WarmThroughput } };
  }
  if (QuotaCode === "L-CF0CBE56") return { Quota: { QuotaCode, Value: account.tableReadUnits } };
  // The writes of this account were never changed: only the default is there.
  return operation.endsWith(".GetServiceQuota")
    ? { __type: "NoSuchResourceException" }
    : { Quota: { QuotaCode, Value: account.tableWriteUnits } };
}

beforeAll(async () => {
  const http = createServer(async (request, response) => {
    const body = await answerTo(request);
    const status = "__type" in body ? 400 : 200;
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  server = await listen(http, 0);
});
afterAll(() => server.close());
beforeEach(() => {
  account = usual;
  indexStatus = undefined;
  tables = Object.fromEntries(Object.keys(allWarm).map((name) => [`NetworkCapabilities-${name}`, warm]));
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
  expect(stdout).toMatch(/requests a second to APIs: prod can use [1-9]\d+, the account has 10000\n/);
  expect(stdout).toMatch(/access-records: prod can use [1-9]\d+, the table has 10000\n/);
  expect(lines.at(-1)).toBe("Everything in the account and region shares its quotas.");
});

test("ncs preflight exits with 1 for new tables, and says what to warm and what would throttle first", async () => {
  tables = {};
  const { code, stdout, stderr } = await runNcs(["preflight", "--densities", "0", "--others", "5000"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "2 of 9 are lower than what prod needs\n" });
  expect(stdout).toContain(
    "raise  warm write units a second of quotas: prod needs 5000, the table has 4000\n",
  );
  expect(stdout).toContain('       deploy with "warmThroughput.quotas": "12000:5000", or ');
  expect(stdout).toContain(
    "first  warm write units a second of quotas would throttle first, at 80 % of the expected requests\n",
  );
});

/** A deployed stage and the synthesized template of the next release, by their settings and by what a role may do. */
async function upgradeOf(
  settings: Readonly<Record<string, string>>,
  rights: { readonly before: readonly string[]; readonly after: readonly string[] } = {
    before: [],
    after: [],
  },
): Promise<(...more: string[]) => ReturnType<typeof runNcs>> {
  const templateOf = (Action: readonly string[]) => {
    const Statement = Action.length === 0 ? [] : [{ Effect: "Allow", Action, Resource: "table" }];
    const Properties = { Policies: [{ PolicyDocument: { Statement } }] };
    return {
      Metadata: { "NetworkCapabilities::Settings": settings },
      Resources: { Role: { Type: "AWS::IAM::Role", Properties } },
    };
  };
  const deployed = await folder.write("deployed.json", templateOf(rights.before));
  const next = await folder.write("next.json", templateOf(rights.after));
  return async (...more) => await runNcs(["preflight", "--deployed", deployed, "--template", next, ...more]);
}

/** The options that name a file with settings of `prod`. */
async function settingsFile(prod: Readonly<Record<string, string>>): Promise<string[]> {
  const file = await folder.write(`settings-${randomUUID()}.json`, { prod });
  return ["-c", `settings=${file}`];
}

const issuer = "https://api.operator.example";
const ownKey = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:own-AbCdEf";
const certificateArn = "arn:aws:acm:eu-west-1:123456789012:certificate/a";

/** Settings that a stage may have, of which some need others. */
const deployedSettings: readonly (readonly [name: string, value: string])[] = [
  ["TOKEN_ISSUER", issuer],
  ["domainName", "api.operator.example"],
  ["tables.profiles", "restored"],
  [
    "TRUSTED_ISSUERS",
    '[{"issuer":"https://op.example","jwksUri":"https://op.example/jwks","audience":"a","algorithms":["ES256"]}]',
  ],
  ["TOKEN_AUDIENCE", "operator"],
  ["TOKEN_ENDPOINT", "on"],
  ["waf", "true"],
  ["awsHost", "closed"],
  ["signingKeySecretArn", ownKey],
  ["ACCESS_RECORD_DAYS", "30"],
  ["RATE_LIMIT_PER_MINUTE", "600"],
  ["alarmTopicArn", "arn:aws:sns:eu-west-1:123456789012:pages"],
  ["account", "123456789012"],
];

test.each(deployedSettings)(
  "ncs preflight refuses a deployment that forgets %s, except with --forget",
  async (name, value) => {
    const needed = { TOKEN_ISSUER: issuer, domainName: "api.operator.example", certificateArn };
    const settings = { ...needed, [name]: value };
    const run = await upgradeOf(settings);
    const { [name]: _, ...others } = { ...settings } as Record<string, string>;
    const left = name === "domainName" ? { TOKEN_ISSUER: issuer } : others;

    const [kept, forgetting] = [await settingsFile(settings), await settingsFile(left)];
    const { code, stderr } = await run(...forgetting);
    expect(code).toBe(1);
    expect(stderr).toContain(`${name} was deployed as ${value}, and would be `);
    expect((await run(...kept)).code).toBe(0);
    expect((await run(...forgetting, "--forget")).code).toBe(0);
  },
);

test("the template keeps every setting that was given but those of one deployment, and always the issuer", () => {
  const given = { waf: "true", "tables.profiles": "restored,old" };
  const once = {
    release: "at-once",
    restart: "2026-11-27",
    retiredIssuers: "https://login.operator.example",
  };
  expect(recordedSettings(settingsOf({ stage: "dev", samLocal: true, ...once, ...given }))).toEqual({
    ...undeployedSettings,
    TOKEN_ISSUER: "https://network-capabilities.example",
    "tables.profiles": "restored",
    waf: "true",
  });
});

test("ncs preflight refuses another issuer, and takes another limit of requests", async () => {
  const run = await upgradeOf({ TOKEN_ISSUER: issuer, RATE_LIMIT_PER_MINUTE: "600" });
  const limit = { RATE_LIMIT_PER_MINUTE: "700" };
  expect((await run(...(await settingsFile({ ...limit, TOKEN_ISSUER: issuer })))).code).toBe(0);
  const other = await settingsFile({ ...limit, TOKEN_ISSUER: "https://other.example" });
  expect((await run(...other)).stderr).toContain(
    `TOKEN_ISSUER was deployed as ${issuer}, and would be https://other.example\n`,
  );
});

test("ncs preflight names each right that the release takes from the deployed version", async () => {
  const rights = { before: ["dynamodb:GetItem", "dynamodb:Query"], after: ["dynamodb:GetItem"] };
  const { code, stderr } = await (await upgradeOf({}, rights))();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'Role  dynamodb:Query  "table"\n' +
      "These rights are removed: keep them, and remove them in the next release\n",
  });
});

test("ncs preflight refuses a release whose index is missing or is being made, and takes a table that is to be made", async () => {
  const run = await upgradeOf({});
  indexStatus = { "pending-by-shard": "CREATING" };
  const { code, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toContain(
    "NetworkCapabilities-density-jobs has the index pending-by-shard, which is CREATING\n",
  );
  expect(stderr).toContain("NetworkCapabilities-density-jobs has no index waiting\n");
  expect(stderr).toMatch(/wait until their indexes are ACTIVE: docs\/upgrading\.md\n$/);

  indexStatus = undefined;
  expect((await run()).code).toBe(0);
});

test("ncs preflight warns before the account's role for API Gateway's logs is replaced", async () => {
  account = { ...usual, gatewayMayLog: true };
  expect((await runNcs(["preflight"])).stdout).toContain('"gatewayLogRole": "existing"');
  const { stdout } = await runNcs(["preflight", ...(await settingsFile({ gatewayLogRole: "existing" }))]);
  expect(stdout).not.toContain("note ");
});
