import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { handlerFile } from "../../infra/bundles.ts";
import { bundle } from "../../tools/build.ts";
import { sharedService } from "../support/service.ts";
import { configured, eachStage, parseOne, readNotes, sharedText, texts } from "./template.ts";

/** Resources of the stack of the service without any setting, and those that settings add. */
const serviceResources = Object.keys(parseOne(texts.prod.service).Resources).length;
const ofSettings = /^AWS::(?:ApiGateway::(?:DomainName|BasePathMapping)|Route53|WAFv2)/;
const optionalResources = Object.values(configured.Resources).filter(({ Type }) =>
  ofSettings.test(Type),
).length;

describe.each(eachStage)("the template of %s", (stage, made) => {
  const text = JSON.stringify(made);

  test(`the template of ${stage} names no account and no region`, () => {
    expect(text.match(/\b\d{12}\b/g)).toBeNull();
    const region =
      /\b(?:af|ap|ca|cn|eu|il|me|mx|sa|us)-(?:gov-)?(?:central|(?:north|south)?(?:east|west)?)-\d\b/g;
    expect(text.match(region)).toBeNull();
  });

  test(`the template of ${stage} has no parameters except the version of the bootstrap`, () => {
    expect(Object.keys(made.Parameters)).toEqual(["BootstrapVersion"]);
  });
});

describe("CloudFormation takes", () => {
  /** Those of a stack, less a reserve for what a release may need at once: an alarm, a grant of a function. */
  const maxResources = 500 - 5;
  /** Of a template, less a fifth. */
  const maxBytes = 800_000;

  test.each(Object.entries(texts))(
    "the templates of %s have fewer resources and bytes than CloudFormation allows",
    (_, { data, service }) => {
      for (const text of [data, service]) {
        expect(Object.keys(parseOne(text).Resources).length).toBeLessThanOrEqual(maxResources);
        expect(text.length).toBeLessThan(maxBytes);
      }
    },
  );

  // A setting may also leave resources out, so that with all of them a stack is not at its largest.
  test("the stack of the service has room for all resources that settings add", () => {
    expect(serviceResources + optionalResources).toBeLessThanOrEqual(maxResources);
  });
});

describe("a second deployment changes nothing", () => {
  test("the same declarations give the same template, byte by byte, in another process", () => {
    expect(sharedText("deployedAgain")).toEqual(texts.prod);
    // What tests run was made by another program.
    expect(sharedText("localDev")).toEqual(texts.dev);
  });

  // The name of a version is made from the bundle's bytes.
  test("the same sources give the same bundle in another folder", async () => {
    const id = "population-density/retrieve";
    const folder = mkdtempSync(join(tmpdir(), "network-capabilities-bundle-"));
    try {
      await bundle(handlerFile(id), join(folder, "elsewhere"));
      expect(filesIn(join(folder, "elsewhere"))).toEqual(filesIn(join(sharedService.bundles, id)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("cdk.json adds no context that the tests do not have", () => {
  // What is there is for the command itself: it sends no usage data.
  expect(JSON.parse(readFileSync("cdk.json", "utf8")).context).toEqual({ "cli-telemetry": false });
});

test("the API is deployed again when its authorizer changes", () => {
  const { deployedContext } = readNotes();
  expect(deployedContext["@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId"]).toBe(true);
});

test("synthesis fails for what CDK's validation finds", () => {
  const { deployedContext } = readNotes();
  expect(deployedContext["@aws-cdk/core:validateAgainstDefaultRules"]).toBe(true);
});

describe("warnings", () => {
  const { warnings } = readNotes();

  test("synthesis of prod warns of the default TOKEN_ISSUER alone", () => {
    expect(warnings.deployed).toEqual([expect.stringContaining("TOKEN_ISSUER")]);
    expect(warnings.someSettings).toEqual([]);
  });

  test("synthesis of dev warns of nothing", () => {
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
