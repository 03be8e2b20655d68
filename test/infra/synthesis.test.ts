import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { networkCapabilities } from "../../infra/app.ts";
import { synthesize, template } from "./template.ts";

const text = JSON.stringify(template);

test("the template fits any account and any region", () => {
  expect(text.match(/\b\d{12}\b/g)).toBeNull();
  const region =
    /\b(?:af|ap|ca|cn|eu|il|me|mx|sa|us)-(?:gov-)?(?:central|(?:north|south)?(?:east|west)?)-\d\b/g;
  expect(text.match(region)).toBeNull();
});

test("the template asks for nothing but what a bootstrapped account has", () => {
  expect(Object.keys(template.Parameters)).toEqual(["BootstrapVersion"]);
});

test("the same declarations give the same template", () => {
  expect(synthesize()).toEqual(template);
});

test("what is tested is what is deployed: the command line adds no context of its own", () => {
  // What is there is for the command itself: it sends no usage data.
  expect(JSON.parse(readFileSync("cdk.json", "utf8")).context).toEqual({ "cli-telemetry": false });
});

test("a stage is deployed anew when its authorizer changes", () => {
  const app = networkCapabilities({ bundles: inject("bundles"), validation: false });
  expect(app.node.tryGetContext("@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId")).toBe(true);
});
