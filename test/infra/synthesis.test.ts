import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import * as z from "zod";
import { handlerFile } from "../../infra/bundles.ts";
import { bundle } from "../../tools/build.ts";
import {
  configured,
  deployed,
  eachStage,
  parseOne,
  readNotes,
  resourcesOf,
  sharedText,
  type Template,
  texts,
} from "./template.ts";

/** Resources of the stack of the service without any setting, and those that settings add. */
const serviceResources = Object.keys(parseOne(texts.prod.service).Resources).length;
const ofSettings = /^AWS::(?:ApiGateway::(?:DomainName|BasePathMapping)|Route53|WAFv2)/;
const optionalResources = Object.values(configured.Resources).filter(({ Type }) =>
  ofSettings.test(Type),
).length;

describe.each(eachStage)("the template of %s", (_stage, made) => {
  const text = JSON.stringify(made);

  test("fits any account and any region", () => {
    expect(text.match(/\b\d{12}\b/g)).toBeNull();
    const region =
      /\b(?:af|ap|ca|cn|eu|il|me|mx|sa|us)-(?:gov-)?(?:central|(?:north|south)?(?:east|west)?)-\d\b/g;
    expect(text.match(region)).toBeNull();
  });

  test("asks for nothing but what a bootstrapped account has", () => {
    expect(Object.keys(made.Parameters)).toEqual(["BootstrapVersion"]);
  });
});

describe("CloudFormation takes", () => {
  /** Those of a stack, less a reserve for what a release may need at once: an alarm, a grant of a function. */
  const maxResources = 500 - 5;
  /** Of a template, less a fifth. */
  const maxBytes = 800_000;

  test.each(Object.entries(texts))("both templates: %s", (_, { data, service }) => {
    for (const text of [data, service]) {
      expect(Object.keys(parseOne(text).Resources).length).toBeLessThanOrEqual(maxResources);
      expect(text.length).toBeLessThan(maxBytes);
    }
  });

  // A setting may also leave resources out, so that with all of them a stack is not at its largest.
  test("the stack of the service with all that a setting adds", () => {
    expect(serviceResources + optionalResources).toBeLessThanOrEqual(maxResources);
  });
});

test("docs/operating.md says how near the templates are to AWS's quotas, and what their alarms cost", () => {
  const [dev, prod] = eachStage.map(([, from]) => alarmsOf(from)) as [Alarms, Alarms];
  const count = (type: string) =>
    Object.values(deployed.Resources).filter(({ Type }) => Type === type).length;
  const said = readFileSync("docs/operating.md", "utf8").replaceAll(/\s+/g, " ");
  const usd = ({ metrics, composites }: Alarms) => (0.1 * metrics + 0.5 * composites).toFixed(2);
  for (const fact of [
    `| 500 | ${serviceResources}, and ${optionalResources} more with a domain and \`waf\` |`,
    `| ${count("AWS::ApiGateway::Resource")}; ${count("AWS::ApiGateway::Authorizer")} |`,
    `| 5,000 | ${prod.alarms + prod.composites} |`,
    `| 2,500 | ${count("AWS::DynamoDB::Table")} |`,
    `alarms ${usd(prod)} (${prod.metrics} metrics of ${prod.alarms} alarms, and nine composite alarms)`,
    `alarms ${usd(dev)} (${dev.metrics} metrics)`,
  ])
    expect(said.includes(fact), fact).toBe(true);
  expect(prod.composites).toBe(9);
});

interface Alarms {
  readonly alarms: number;
  /** Each is paid for: an expression has several. */
  readonly metrics: number;
  readonly composites: number;
}

function alarmsOf(from: Template): Alarms {
  const metric = z.looseObject({ MetricStat: z.unknown().optional() });
  const alarms = resourcesOf(
    "AWS::CloudWatch::Alarm",
    z.looseObject({ Metrics: z.array(metric).optional() }),
    from,
  );
  const metrics = alarms.map(({ properties: { Metrics } }) =>
    Metrics === undefined ? 1 : Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length,
  );
  return {
    alarms: alarms.length,
    metrics: metrics.reduce((sum, one) => sum + one, 0),
    composites: resourcesOf("AWS::CloudWatch::CompositeAlarm", z.unknown(), from).length,
  };
}

describe("a second deployment changes nothing", () => {
  test("the same declarations give the same template, byte by byte", () => {
    expect(sharedText("deployedAgain")).toEqual(texts.prod);
    // What tests run was made by another program.
    expect(sharedText("localDev")).toEqual(texts.dev);
  });

  // The name of a version is made from the bundle's bytes.
  test("the same sources give the same bundle, wherever it is made", async () => {
    const id = "population-density/retrieve";
    const folder = mkdtempSync(join(tmpdir(), "network-capabilities-bundle-"));
    try {
      await bundle(handlerFile(id), join(folder, "elsewhere"));
      expect(filesIn(join(folder, "elsewhere"))).toEqual(filesIn(join(inject("bundles"), id)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("what is tested is what is deployed: the command line adds no context of its own", () => {
  // What is there is for the command itself: it sends no usage data.
  expect(JSON.parse(readFileSync("cdk.json", "utf8")).context).toEqual({ "cli-telemetry": false });
});

test("a stage is deployed anew when its authorizer changes", () => {
  const { deployedContext } = readNotes();
  expect(deployedContext["@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId"]).toBe(true);
});

describe("warnings", () => {
  const { warnings } = readNotes();

  test("callers' stage warns of an issuer that nobody can own, and says what follows", () => {
    expect(warnings.deployed).toEqual([
      expect.stringMatching(/^TOKEN_ISSUER is https:\/\/network-capabilities\.example.* refuses all tokens/),
    ]);
    expect(warnings.someSettings).toEqual([]);
  });

  test("to try things out the default will do", () => {
    expect(warnings.densityImport).toEqual([]);
  });
});

/** Names and contents of a folder's files. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
}
