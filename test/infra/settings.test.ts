import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import * as z from "zod";
import { stackName, stackNames } from "../../infra/stack-names.ts";
import { type Stage, stages } from "../../infra/stage.ts";
import { requestRateOf } from "../../infra/throttling.ts";
import { configuration } from "../../shared/environment.ts";
import { settingsOf } from "../support/deployment-settings.ts";
import { triedSettings } from "./shared-templates.ts";
import { readNotes, sharedFolder, sharedTemplate, type Template, template } from "./template.ts";

const topic = "arn:aws:sns:eu-west-1:123456789012:pages";
const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/a";

describe("settings", () => {
  test("without a stage it is the one that keeps data", () => {
    expect(stages[settingsOf({}).stage].keepsData).toBe(true);
  });

  test.each([
    [{ stage: "staging" }, "stage must be dev or prod"],
    [{ stage: "Prod" }, "stage must be dev or prod"],
    [{ stage: "" }, "stage must be dev or prod"],
    [{ stage: {} }, "stage must be dev or prod"],
    [{ signingKeySecretArn: "my-secret" }, "signingKeySecretArn must be the full ARN of a secret"],
    [{ signingKeySecretArn: topic }, "signingKeySecretArn must be the full ARN of a secret"],
    [{ alarmTopicArn: "pages" }, "alarmTopicArn must be the ARN of an SNS topic, or none"],
    [{ alarmTopicArn: undefined }, "alarmTopicArn must be set for prod"],
    [{ alarmTopicArn: `${topic}:subscription` }, "alarmTopicArn must be the ARN of an SNS topic"],
    [{ domainName: "api.example.com" }, "domainName and certificateArn must be set together"],
    [{ certificateArn: certificate }, "domainName and certificateArn must be set together"],
    [{ hostedZoneId: "none" }, "domainName and certificateArn must be set together"],
    [{ domainName: "https://api.example.com" }, "domainName must be a host name in lower case"],
    [{ domainName: "API.example.com" }, "domainName must be a host name in lower case"],
    [
      { domainName: "api.example.com", certificateArn: topic },
      "certificateArn must be the ARN of a certificate",
    ],
    [
      { domainName: "api.example.com", certificateArn: certificate, hostedZoneId: "example.com" },
      "hostedZoneId must be the id of a Route 53 hosted zone, or none",
    ],
    [{ DENSITY_K: "many" }, "DENSITY_K must be a whole number from 1 to 1000000"],
    [
      { TRUSTED_ISSUERS: '[{"issuer":"https://op.example"}]' },
      "TRUSTED_ISSUERS must be a JSON array with one object {issuer, jwksUri, ",
    ],
    [{ SINK_ALLOWED_NETWORKS: "10.0.0.0/8:443" }, "SINK_ALLOWED_NETWORKS is for local runs only"],
    [{ corsOrigins: "*" }, "corsOrigins must be a list such as https://app.example"],
    [{ corsOrigins: "https://app.example/" }, "corsOrigins must be a list such as https://app.example"],
    [{ corsOrigins: "" }, "corsOrigins must be a list such as https://app.example"],
    [{ corsOrigins: ["https://app.example"] }, "corsOrigins must be a list such as https://app.example"],
    [{ waf: "yes" }, "waf must be true or false"],
    [{ throttlingRate: "0" }, "throttlingRate must be a whole number"],
    [{ throttlingBurst: "many" }, "throttlingBurst must be a whole number"],
    [{ release: "now" }, "release must be canary or at-once"],
    [{ gatewayLogRole: "none" }, "gatewayLogRole must be own or existing"],
    [{ maxWorkers: "1" }, "maxWorkers must be a whole number from 2 to 200"],
    [{ maxWorkers: "201" }, "maxWorkers must be a whole number from 2 to 200"],
    [{ reservedConcurrency: "50" }, "reservedConcurrency must be a list such as profile/authenticate:50"],
    [
      { reservedConcurrency: "profile/login:5" },
      "reservedConcurrency names profile/login, which is not a function",
    ],
    [
      { reservedConcurrency: "profile/authenticate:0" },
      "reservedConcurrency of profile/authenticate must be at least 1",
    ],
    // Lambda would receive messages that no execution is left for, until they are dead.
    [
      { reservedConcurrency: "population-density/deliver:49" },
      "reservedConcurrency of population-density/deliver must be at least 50",
    ],
    [
      { stage: "dev", maxWorkers: 100, reservedConcurrency: "population-density/deliver:99" },
      "reservedConcurrency of population-density/deliver must be at least 100",
    ],
  ])("%j is refused, and it is said why", (context, message) => {
    expect(() => settingsOf(context)).toThrow(message);
  });

  test("nothing is synthesized with settings that are refused, or with more than Lambda takes", () => {
    expect(readNotes().refusals).toEqual({
      unknownStage: "stage must be dev or prod",
      manyIssuers: expect.stringMatching(
        /^The environment of authorizer\/authorize has up to \d+ bytes; Lambda takes 4096\. Its longest variable is TRUSTED_ISSUERS\.$/,
      ),
    });
  });

  test.each([
    [{}, 50],
    [{ stage: "dev" }, 10],
    [{ stage: "dev", maxWorkers: "200" }, 200],
    [{ maxWorkers: 2 }, 2],
  ])("%j has as many delivery workers as the setting says, or the stage", (context, workers) => {
    expect(settingsOf(context).maxWorkers).toBe(workers);
  });

  test("to try things out nobody need be notified", () => {
    expect(settingsOf({ stage: "dev", alarmTopicArn: undefined })).not.toHaveProperty("alarmTopicArn");
  });

  test("what is true or a number in a file is taken as it is", () => {
    const { Resources } = sharedTemplate("someSettings");
    expect(Object.values(Resources).filter(({ Type }) => Type === "AWS::WAFv2::WebACL")).toHaveLength(1);
    expect(JSON.stringify(Resources)).toContain('"ThrottlingRateLimit":37');
  });
});

describe("configuration", () => {
  const variablesOf = ({ Resources }: Template) =>
    Object.values(Resources)
      .filter(({ Type }) => Type === "AWS::Lambda::Function")
      .map((resource) => JSON.stringify(resource));

  test("that is given reaches the functions that read it, as text or as JSON", () => {
    const given = variablesOf(sharedTemplate("triedSettings"));
    const written = JSON.stringify(JSON.stringify(triedSettings.TRUSTED_ISSUERS));
    expect(given.filter((made) => made.includes(`"TRUSTED_ISSUERS":${written}`))).toHaveLength(1);
    expect(given.filter((made) => made.includes('"DENSITY_SYNC_LIMIT":"123"'))).toHaveLength(2);
  });

  test("that is not given is the default", () => {
    const made = variablesOf(template);
    expect(made.filter((one) => one.includes('"DENSITY_SYNC_LIMIT":"40000"'))).toHaveLength(2);
    expect(made.filter((one) => one.includes("SINK_ALLOWED_NETWORKS"))).toEqual([]);
  });

  test.each([
    ["as it was given", sharedTemplate("triedSettings"), "20", "3-7"],
    ["as it is by default", template, "10", "3-7"],
  ])("by which densities are published is among the outputs, %s", (_, from, threshold, precisions) => {
    const outputs = Object.fromEntries(
      Object.entries(from.Outputs).map(([name, { Value }]) => [name, Value]),
    );
    expect(outputs).toMatchObject({ DensityK: threshold, DensityPrecisions: precisions });
    const announcing = variablesOf(from).filter((made) => made.includes('"DENSITY_K"'));
    expect(announcing).toEqual([expect.stringContaining(`"DENSITY_K":"${threshold}"`)]);
  });
});

describe("stages", () => {
  const manifest = z.object({
    artifacts: z.object({
      [stackName]: z.object({
        properties: z.object({
          // Absent when it is the artifact's own name.
          stackName: z.string().default(stackName),
          terminationProtection: z.boolean().optional(),
        }),
      }),
    }),
  });
  const stackOf = (folder: string) =>
    manifest.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))).artifacts[stackName]
      .properties;

  const prod = stackOf(sharedFolder("deployed"));
  const dev = stackOf(inject("assembly"));

  test("each is a stack of its own, so that a deployment of one never changes another", () => {
    expect({ dev: dev.stackName, prod: prod.stackName }).toEqual(stackNames);
    expect(stackNames.dev).not.toBe(stackNames.prod);
  });

  test("the one for callers cannot be deleted in passing", () => {
    expect(prod.terminationProtection).toBe(true);
    expect(dev.terminationProtection ?? false).toBe(false);
  });

  test("each method lets one caller's quota through", () => {
    const perMinute = configuration.RATE_LIMIT_PER_MINUTE.read(configuration.RATE_LIMIT_PER_MINUTE.default);
    for (const stage of Object.keys(stages) as Stage[]) {
      expect(requestRateOf(stage) * 60).toBeGreaterThan(perMinute ?? Number.POSITIVE_INFINITY);
    }
  });
});
