import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { undeployedSettings } from "../../infra/settings.ts";
import { settingsIn } from "../../infra/settings-source.ts";
import { type Stage, stages } from "../../infra/stage.ts";
import { setting } from "../../shared/environment.ts";
import { RATE_LIMIT_PER_MINUTE } from "../../shared/variables/rate-limit-per-minute.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { defaultSettings } from "../support/settings.ts";
import { triedSettings } from "./shared-templates.ts";
import { readNotes, sharedTemplate, sharedText, type Template, template, texts } from "./template.ts";

const topic = "arn:aws:sns:eu-west-1:123456789012:pages";
const secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:own-AbCdEf";
const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/a";

const folder = useOwnFolder();

describe("settings", () => {
  test("cdk chooses the stage that keeps data unless one is set", () => {
    expect(stages[settingsOf({}).stage].keepsData).toBe(true);
  });

  test.each<[setting: string, context: Readonly<Record<string, unknown>>]>([
    ["stage", { stage: "staging" }],
    ["stage", { stage: "Prod" }],
    ["stage", { stage: "" }],
    ["stage", { stage: {} }],
    ["signingKeySecretArn", { signingKeySecretArn: "my-secret" }],
    ["signingKeySecretArn", { signingKeySecretArn: topic }],
    ["alarmTopicArn", { alarmTopicArn: "pages" }],
    ["alarmTopicArn", { alarmTopicArn: undefined }],
    ["alarmTopicArn", { alarmTopicArn: `${topic}:subscription` }],
    ["account and region", { account: undefined }],
    ["account and region", { region: undefined }],
    ["account", { account: "12345" }],
    ["region", { region: "Ireland" }],
    ["alarmTopicArn", { account: "210987654321", alarmTopicArn: topic }],
    ["alarmTopicArn", { region: "eu-central-1", alarmTopicArn: topic }],
    [
      "certificateArn",
      { region: "eu-central-1", domainName: "api.example.com", certificateArn: certificate },
    ],
    ["signingKeySecretArn", { account: "210987654321", signingKeySecretArn: secret }],
    ["signingKeySecretArn", { stage: "dev", region: "eu-central-1", signingKeySecretArn: secret }],
    ["domainName and certificateArn", { domainName: "api.example.com" }],
    ["domainName and certificateArn", { certificateArn: certificate }],
    ["domainName and certificateArn", { hostedZoneId: "none" }],
    ["domainName", { domainName: "https://api.example.com" }],
    ["domainName", { domainName: "API.example.com" }],
    ["certificateArn", { domainName: "api.example.com", certificateArn: topic }],
    [
      "hostedZoneId",
      { domainName: "api.example.com", certificateArn: certificate, hostedZoneId: "example.com" },
    ],
    ["awsHost", { awsHost: "closed" }],
    ["awsHost", { domainName: "api.example.com", certificateArn: certificate, awsHost: "false" }],
    ["DENSITY_K", { DENSITY_K: "many" }],
    ["TRUSTED_ISSUERS", { TRUSTED_ISSUERS: '[{"issuer":"https://op.example"}]' }],
    ["SINK_ALLOWED_NETWORKS", { SINK_ALLOWED_NETWORKS: "10.0.0.0/8:443" }],
    ["TOKEN_ISSUER", { TOKEN_ENDPOINT: "on" }],
    ["TOKEN_ISSUER", { TOKEN_ENDPOINT: "on", TOKEN_ISSUER: "api.operator.example" }],
    ["TOKEN_ISSUER", { TOKEN_ENDPOINT: "on", TOKEN_ISSUER: "https://api.operator.example/" }],
    ["corsOrigins", { corsOrigins: "*" }],
    ["corsOrigins", { corsOrigins: ["https://app.example"] }],
    ["waf", { waf: "yes" }],
    ["tracing", { tracing: "on" }],
    ["alarms", { alarms: "none" }],
    ["throttlingRate", { throttlingRate: "0" }],
    ["throttlingBurst", { throttlingBurst: "many" }],
    ["release", { release: "now" }],
    ["restart", { restart: "now please" }],
    ["tables.profiles", { "tables.profiles": "one,two,three" }],
    ["gatewayLogRole", { gatewayLogRole: "none" }],
    ["maxWorkers", { maxWorkers: "1" }],
    ["maxWorkers", { maxWorkers: "201" }],
    ["warmThroughput.densities", { "warmThroughput.densities": "30000" }],
    // DynamoDB accepts no less than a new table has.
    ["warmThroughput.densities", { "warmThroughput.densities": "11999:4000" }],
    ["warmThroughput.quotas", { "warmThroughput.quotas": "12000:3999" }],
    [
      "RATE_LIMIT_PER_MINUTE must be at most 50000: each request writes its caller's one item",
      { RATE_LIMIT_PER_MINUTE: "50001" },
    ],
    ["reservedConcurrency", { reservedConcurrency: "50" }],
    ["reservedConcurrency names", { reservedConcurrency: "profile/login:5" }],
    ["reservedConcurrency names oauth2/token, which", { reservedConcurrency: "oauth2/token:5" }],
    ["reservedConcurrency of profile/authenticate", { reservedConcurrency: "profile/authenticate:0" }],
    // Lambda would receive messages that no execution is left for, until they are dead.
    [
      "reservedConcurrency of population-density/deliver",
      { reservedConcurrency: "population-density/deliver:49" },
    ],
    [
      "reservedConcurrency of population-density/deliver",
      { stage: "dev", maxWorkers: 100, reservedConcurrency: "population-density/deliver:99" },
    ],
  ])("cdk refuses, and names %s for, the settings %j", (setting, context) => {
    expect(() => settingsOf(context)).toThrow(`${setting} `);
  });

  test("cdk refuses densityImport, which was a setting of 0.2.0, and says how its stack is destroyed first", () => {
    expect(() => settingsOf({ densityImport: "true" })).toThrow(
      /^densityImport is no longer a setting: .* delete-stack --stack-name NetworkCapabilities-density-import/,
    );
  });

  test.each([
    ["alarmTopicARN", "alarmTopicArn"],
    ["Stage", "stage"],
    ["density_k", "DENSITY_K"],
    ["domain-name", "domainName"],
    ["table.profiles", "tables.profiles"],
  ])("cdk refuses the misspelt setting %s, and names %s", (misspelt, meant) => {
    expect(() => settingsOf({ [misspelt]: "none" })).toThrow(
      `${misspelt} is not a setting; did you mean ${meant}?`,
    );
  });

  test("a stage has the settings below its name in cdk.json, or in the file that -c settings names, and those of -c", async () => {
    const context = {
      "cli-telemetry": false,
      prod: { "tables.profiles": "restored", domainName: "api.example.com", certificateArn: certificate },
      dev: { maxWorkers: 3, throttlingRate: 30 },
    };
    const file = await folder.write("settings.json", { dev: { maxWorkers: 4 } });

    const dev = settingsIn({ ...context, stage: "dev", restart: "today" });
    expect(dev).toMatchObject({ tableNames: {}, maxWorkers: 3, throttling: { rate: 30 }, restart: "today" });
    expect(dev).not.toHaveProperty("domain");
    expect(settingsIn(context, undeployedSettings).tableNames).toEqual({ profiles: ["restored"] });
    expect(settingsIn({ ...context, stage: "dev", settings: file })).toMatchObject({
      maxWorkers: 4,
      throttling: { rate: 100 },
    });
  });

  test.each([
    [
      'maxWorkers must stand in a file: write "maxWorkers": "2" below "dev" of "context" in',
      { maxWorkers: "2" },
    ],
    ["maxWorker is not a setting; did you mean maxWorkers?", { dev: { maxWorker: 3 } }],
    ["maxWorker is not a setting; did you mean maxWorkers?", { maxWorker: 3 }],
    [
      'restart stands below "prod" of "context" in cdk.json, and belongs to one',
      { prod: { restart: "now" } },
    ],
    ["prod of cdk.json must be an object", { prod: "restored" }],
    ['stage stands below "dev" of "context" in cdk.json, and belongs to one', { dev: { stage: "prod" } }],
    ["-c settings=none.json must name a JSON file", { settings: "none.json" }],
    [
      'waf must stand in a file: write "waf": "true" below "dev" in infra/any-account.json',
      { settings: "infra/any-account.json", waf: "true" },
    ],
    ["package.json must have settings below dev and prod alone", { settings: "package.json" }],
  ])("cdk says '%s' to a context of %j", (message, context) => {
    expect(() => settingsIn({ stage: "dev", ...context })).toThrow(message);
  });

  test("cdk accepts the context of CDK and of its tools", () => {
    const others = {
      "@aws-cdk/core:checkSecretUsage": true,
      "aws:cdk:enable-path-metadata": true,
      "availability-zones:account=123456789012:region=eu-west-1": ["eu-west-1a"],
      "cli-telemetry": false,
      "cdk-nag": "x",
    };
    expect(settingsIn({ stage: "dev", ...others })).toEqual(settingsIn({ stage: "dev" }));
  });

  test.each([
    [
      "neither a topic for alarms nor `none`",
      { account: "any", region: "any" },
      /^alarmTopicArn must be set.*\n$/,
    ],
    ["no account and region", { alarmTopicArn: "none" }, /^account and region must be set for prod.*\n$/],
  ])("cdk's program ends with 1 and one sentence for a stage with %s", async (_, prod, sentence) => {
    const ended = await promisify(execFile)(process.execPath, ["infra/main.ts"], {
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ prod }) },
    }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(sentence) });
  });

  test("synthesis fails for an unknown stage, and for an environment larger than Lambda accepts", () => {
    expect(readNotes().refusals).toEqual({
      unknownStage: expect.stringContaining("stage"),
      manyIssuers: expect.stringContaining("TRUSTED_ISSUERS"),
    });
  });

  test("cdk accepts the highest rate that one item of quotas can count", () => {
    const RATE_LIMIT_PER_MINUTE = "50000";
    expect(settingsOf({ RATE_LIMIT_PER_MINUTE }).configuration).toEqual({ RATE_LIMIT_PER_MINUTE });
  });

  test("cdk needs no alarmTopicArn, account and region for dev", () => {
    const dev = settingsOf({
      stage: "dev",
      alarmTopicArn: undefined,
      account: undefined,
      region: undefined,
    });
    for (const name of ["alarmTopicArn", "account", "region"]) expect(dev).not.toHaveProperty(name);
  });

  test.each(["eu-west-1", "us-gov-east-1", "eusc-de-east-1"])("cdk takes the region %s", (region) => {
    expect(settingsOf({ region, alarmTopicArn: "none" })).toMatchObject({ region });
  });

  test("cdk takes ARNs of the account and region that prod is pinned to", () => {
    const place = { account: "123456789012", region: "eu-west-1" };
    expect(settingsOf({ ...place, alarmTopicArn: topic, signingKeySecretArn: secret })).toMatchObject(place);
  });

  test("settings may be booleans and numbers as in cdk.json", () => {
    const { Resources } = sharedTemplate("someSettings");
    expect(Object.values(Resources).filter(({ Type }) => Type === "AWS::WAFv2::WebACL")).toHaveLength(1);
    expect(JSON.stringify(Resources)).toContain('"ThrottlingRateLimit":37');
  });
});

test("a template for sam local has the variables of servers in every function, and CloudFormation refuses it", () => {
  const { Resources } = sharedTemplate("triedSettings");
  const rulesOf = (text: string) => JSON.parse(text).Rules;
  const functions = Object.values(Resources).filter(({ Type }) => Type === "AWS::Lambda::Function");

  for (const { Properties } of functions.filter(
    ({ Properties }) => Properties.Description !== "releases/check",
  )) {
    expect(JSON.stringify(Properties)).toContain('"AWS_ENDPOINT_URL_DYNAMODB"');
  }
  expect(rulesOf(sharedText("triedSettings").service).OnlyForSamLocal).toEqual({
    Assertions: [expect.objectContaining({ Assert: { "Fn::Equals": ["sam local", "a deployment"] } })],
  });
  expect(rulesOf(texts.prod.service)).not.toHaveProperty("OnlyForSamLocal");
});

describe("configuration", () => {
  const variablesOf = ({ Resources }: Template) =>
    Object.values(Resources)
      .filter(({ Type }) => Type === "AWS::Lambda::Function")
      .map((resource) => JSON.stringify(resource));

  test("a variable that is set reaches the functions that read it, as text or as JSON", () => {
    const given = variablesOf(sharedTemplate("triedSettings"));
    const written = JSON.stringify(JSON.stringify(triedSettings.TRUSTED_ISSUERS));
    expect(given.filter((made) => made.includes(`"TRUSTED_ISSUERS":${written}`))).toHaveLength(1);
    expect(given.filter((made) => made.includes('"DENSITY_SYNC_LIMIT":"123"'))).toHaveLength(3);
  });

  test.each([
    ["as it was given", sharedTemplate("triedSettings"), "20", "3-7"],
    ["as it is by default", template, "10", "3-7"],
  ])(
    "the outputs name the threshold and the precisions of published densities, %s",
    (_, from, threshold, precisions) => {
      const outputs = Object.fromEntries(
        Object.entries(from.Outputs).map(([name, { Value }]) => [name, Value]),
      );
      expect(outputs).toMatchObject({ DensityK: threshold, DensityPrecisions: precisions });
      const announcing = variablesOf(from).filter((made) => made.includes('"DENSITY_K"'));
      expect(announcing).toEqual([expect.stringContaining(`"DENSITY_K":"${threshold}"`)]);
    },
  );
});

test("each stage throttles methods above the quota of one caller", () => {
  const perMinute = setting(RATE_LIMIT_PER_MINUTE, defaultSettings);
  for (const stage of Object.keys(stages) as Stage[]) {
    expect(stages[stage].methodThrottling.rate * 60).toBeGreaterThan(perMinute);
  }
});
