import { type App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { everySetting } from "./shared-templates.ts";
import { withApp } from "./template.ts";

interface Acknowledgement {
  readonly path: string;
  readonly rule: string;
  readonly reason: string;
}

const acknowledged = z.record(z.string(), z.string());

/** Every acknowledgement of an application. */
function acknowledgementsIn(app: App): Acknowledgement[] {
  return app.node.findAll().flatMap(({ node }) =>
    node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries(acknowledged.parse(data)))
      .map(([rule, reason]) => ({ path: node.path, rule: rule.replace(/^annotation::/i, ""), reason })),
  );
}

/** What AWS Solutions finds, a line for each rule and resource; or all that it would find without acknowledgements. */
function findingsIn(app: App, { acknowledgedToo = false } = {}): string[] {
  const checks = new AwsSolutionsChecks();
  if (acknowledgedToo) Object.defineProperty(checks, "isAcknowledged", { value: () => false });
  return checks
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    );
}

describe.each([
  ["dev", { stage: "dev" }],
  ["prod", { stage: "prod" }],
  ["prod with every setting", { stage: "prod", ...everySetting }],
])("%s", (_name, context) => {
  const { open, all, acknowledgements } = withApp(context, (app) => ({
    open: findingsIn(app),
    all: findingsIn(app, { acknowledgedToo: true }),
    acknowledgements: acknowledgementsIn(app),
  }));

  test("nothing is found that is not acknowledged", () => {
    expect(open).toEqual([]);
  });

  test("nothing is acknowledged that is not found", () => {
    const idle = acknowledgements.filter(
      ({ path, rule }) => !all.some((finding) => finding.startsWith(`${rule} ${path}`)),
    );
    expect(idle).toEqual([]);
  });

  test("each acknowledgement is on one resource, for one rule, with a reason", () => {
    const found = (rule: string, path: string) =>
      all.filter((finding) => finding === `${rule} ${path}` || finding.startsWith(`${rule} ${path}/`));
    const blanket = acknowledgements.filter(({ path, rule }) => found(rule, path).length !== 1);
    expect(blanket).toEqual([]);
    expect(acknowledgements.filter(({ reason }) => !/^[A-Z].{40,}\.$/.test(reason))).toEqual([]);
  });
});
