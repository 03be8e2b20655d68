/** Synthesizes once what files of tests look at: CDK takes longer to start than to synthesize. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type App, CloudFormationValidatePlugin, Validations } from "aws-cdk-lib";
import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { AwsSolutionsChecks } from "cdk-nag";
import * as z from "zod";
import { networkCapabilities } from "../../infra/app.ts";
import { undeployedSettings } from "../../infra/settings.ts";
import { checkedNames, contexts, type Notes, notesFile, refusedContexts } from "./shared-templates.ts";

// Bundles are not copied, which takes longer than the rest.
process.env.CDK_CONTEXT_JSON = JSON.stringify({ "aws:cdk:disable-asset-staging": true });

/** Makes the application of a stage with these settings, and what must be set for `prod`, and uses it. */
function withApp<Result>(
  bundles: string,
  settings: Readonly<Record<string, unknown>>,
  use: (app: App, folder: string) => Result,
): Result {
  const folder = mkdtempSync(join(tmpdir(), "network-capabilities-template-"));
  try {
    const all = { ...undeployedSettings, ...settings };
    const app = networkCapabilities({ outdir: folder, bundles, settings: all, validation: false });
    app.synth();
    return use(app, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function warningsIn(app: App): string[] {
  return app.node
    .findAll()
    .flatMap(({ node }) => node.metadata)
    .filter(({ type }) => type === "aws:cdk:warning")
    .map(({ data }) => String(data));
}

const acknowledged = z.record(z.string(), z.string());

/** Every acknowledgement of an application. */
function acknowledgementsIn(app: App): Notes["checks"][string]["acknowledgements"] {
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

const validation = new CloudFormationValidatePlugin();

/**
 * Takes every parameter with `Secret` in its name for a secret that is shown. Only the nested stack has parameters: names
 * and versions of functions, of which some are about webhook secrets.
 */
const secretByName = "W2509";

/**
 * What CDK's validation finds in the templates of a folder, a line for each rule and resource, warnings included: types,
 * properties, values, references, circles, duplicates and many of cfn-lint's rules.
 */
function violationsIn(app: App, folder: string): string[] {
  const templatePaths = readdirSync(folder)
    .filter((file) => file.endsWith(".template.json"))
    .map((file) => join(folder, file));
  const stackTemplates = templatePaths.map((templatePath) => ({
    stackConstructPath: basename(templatePath, ".template.json"),
    templatePath,
    // Most templates fit any account and region.
    accountId: undefined,
    region: undefined,
  }));
  return validation
    .validate({ templatePaths, stackTemplates, appConstruct: app })
    .violations.filter(({ ruleName }) => ruleName !== secretByName)
    .flatMap(({ ruleName, description, violatingResources }) =>
      violatingResources.map(
        ({ resourceLogicalId, constructPath }) =>
          `${ruleName} ${resourceLogicalId ?? constructPath}: ${description}`,
      ),
    );
}

/** Why nothing is synthesized; empty if something is. */
function refusalOf(bundles: string, context: Readonly<Record<string, unknown>>): string {
  try {
    return withApp(bundles, context, () => "");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const [bundles, into] = process.argv.slice(2);
if (bundles === undefined || into === undefined) throw new Error("usage: make-templates BUNDLES FOLDER");

const notes: Notes = {
  warnings: {},
  checks: {},
  refusals: {},
  gatewayResponses: Object.values(ResponseType)
    .filter((value) => value instanceof ResponseType)
    .map(({ responseType }) => responseType),
};
for (const [name, context] of Object.entries(contexts)) {
  const own = join(into, name);
  mkdirSync(own, { recursive: true });
  withApp(bundles, context, (app, folder) => {
    for (const file of readdirSync(folder).filter((one) => one.endsWith(".json"))) {
      copyFileSync(join(folder, file), join(own, file));
    }
    notes.warnings[name] = warningsIn(app);
    if ((checkedNames as readonly string[]).includes(name)) {
      const [open, all] = [findingsIn(app), findingsIn(app, { acknowledgedToo: true })];
      const violations = violationsIn(app, folder);
      notes.checks[name] = { open, all, acknowledgements: acknowledgementsIn(app), violations };
    }
  });
}
for (const [name, context] of Object.entries(refusedContexts)) {
  notes.refusals[name] = refusalOf(bundles, context);
}
writeFileSync(join(into, notesFile), JSON.stringify(notes));
