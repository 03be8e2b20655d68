import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { handlerFile } from "../../infra/bundles.ts";
import { dataStackName, stackName } from "../../infra/stack-names.ts";
import { bundle } from "../../tools/build.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sharedBundles } from "../support/service.ts";
import { contexts, pinned, type SharedName } from "./shared-templates.ts";
import {
  eachStage,
  parseOne,
  readNotes,
  sharedFolder,
  sharedTemplate,
  sharedText,
  texts,
} from "./template.ts";

const folder = useOwnFolder();

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

test("a pinned synthesis is for one account and region alone, with the logical ids of one for any", () => {
  const environments = stacksOf("pinned").map(([, { environment }]) => environment);
  expect(environments).toEqual(Array.from({ length: 3 }, () => `aws://${pinned.account}/${pinned.region}`));
  // CDK's graphs are always of the region that shows them.
  const open = Object.entries(sharedTemplate("pinned").Resources).filter(
    ([, resource]) =>
      resource.Type !== "AWS::CloudWatch::Dashboard" &&
      /AWS::(?:AccountId|Region)/.test(JSON.stringify(resource)),
  );
  expect(open.map(([id]) => id)).toEqual([]);
  const idsIn = (name: SharedName) =>
    Object.entries(sharedTemplate(name).Resources).flatMap(([id, { Type }]) =>
      /::(?:Version|Deployment)$/.test(Type) ? [] : [id],
    );
  expect(idsIn("pinned")).toEqual(idsIn("deployed"));
});

describe("CloudFormation takes", () => {
  /** CloudFormation's limit of a stack, less a fourth: for further operations, and what a release may need at once. */
  const maxResources = 500 * 0.75;
  /** CloudFormation's limit of a template, less a fifth. */
  const maxBytes = 800_000;

  test.each(Object.keys(contexts) as SharedName[])(
    "every stack of %s leaves a fourth of CloudFormation's resources free, and a fifth of a template's bytes",
    (name) => {
      const files = readdirSync(sharedFolder(name)).filter((file) => file.endsWith(".template.json"));
      const sizes = files.map((file) => {
        const text = readFileSync(join(sharedFolder(name), file), "utf8");
        return { file, resources: Object.keys(parseOne(text).Resources).length, bytes: text.length };
      });
      expect(sizes.filter(({ resources, bytes }) => resources > maxResources || bytes >= maxBytes)).toEqual(
        [],
      );
    },
  );

  // A setting may also leave resources out, so that with every setting a stack is not at its largest.
  test("the largest stack has every type of resource that any setting adds", () => {
    const kindsIn = (text: string) =>
      new Set(Object.values(parseOne(text).Resources).map(({ Type }) => Type));
    const others = [texts.prod.service, texts.configured.service].flatMap((text) => [...kindsIn(text)]);
    expect(others.filter((kind) => !kindsIn(sharedText("largest").service).has(kind))).toEqual([]);
  });
});

describe("a second deployment changes nothing", () => {
  test("the same declarations give the same template, byte by byte", () => {
    expect(sharedText("deployedAgain")).toEqual(texts.prod);
  });

  // The name of a version is made from the bundle's bytes.
  test("the same sources give the same bundle in another folder", async () => {
    const id = "population-density/retrieve";
    await bundle(handlerFile(id), join(folder.path, "elsewhere"));
    expect(filesIn(join(folder.path, "elsewhere"))).toEqual(filesIn(join(await sharedBundles(), id)));
  });
});

test("cdk.json adds no context that the tests do not have", () => {
  // What is there is for the command itself: it sends no usage data.
  expect(JSON.parse(readFileSync("cdk.json", "utf8")).context).toEqual({ "cli-telemetry": false });
});

const manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().optional(),
      properties: z
        .looseObject({
          tags: z.record(z.string(), z.string()).optional(),
          terminationProtection: z.boolean().default(false),
        })
        .optional(),
    }),
  ),
});

/** What CloudFormation is told of the stacks of a synthesis, in addition to their templates. */
function stacksOf(name: SharedName) {
  const { artifacts } = manifest.parse(
    JSON.parse(readFileSync(join(sharedFolder(name), "manifest.json"), "utf8")),
  );
  return Object.entries(artifacts).filter(([, { type }]) => type === "aws:cloudformation:stack");
}

// CloudFormation gives them to all of the stack's resources that can have tags.
test.each([
  ["deployedDev", "dev"],
  ["configured", "prod"],
  ["deployed", "prod"],
] as const)("every stack of %s is tagged with the service and its stage", (name, stage) => {
  const tags = stacksOf(name).map(([, { properties }]) => properties?.tags);
  expect(tags).toEqual(Array.from({ length: 3 }, () => ({ service: "network-capabilities", stage })));
});

test("the stacks of prod with the tables and the functions have termination protection, those of dev have none", () => {
  const protectedOf = (name: SharedName) =>
    stacksOf(name).flatMap(([id, { properties }]) => (properties?.terminationProtection ? [id] : []));
  expect(protectedOf("deployed").sort()).toEqual([stackName, dataStackName]);
  expect(protectedOf("deployedDev")).toEqual([]);
});

describe("warnings", () => {
  const { warnings } = readNotes();

  test("synthesis of prod warns of the default TOKEN_ISSUER alone", () => {
    expect(warnings.deployed).toEqual([expect.stringContaining("TOKEN_ISSUER")]);
    expect(warnings.someSettings).toEqual([]);
  });

  test("synthesis of dev warns of nothing", () => {
    expect(warnings.deployedDev).toEqual([]);
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
