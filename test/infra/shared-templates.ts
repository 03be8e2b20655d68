import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "aws-cdk-lib";
import { networkCapabilities } from "../../infra/app.ts";

/** A value for every setting, none of them the default. */
export const everySetting = {
  alarmTopicArn: "arn:aws:sns:eu-west-1:123456789012:pages",
  corsOrigins: "https://app.example,https://other.example:8443",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/11111111-2222-3333-4444-555555555555",
  densityImport: "true",
  domainName: "api.operator.example",
  gatewayLogRole: "existing",
  hostedZoneId: "Z0123456789ABC",
  RATE_LIMIT_PER_MINUTE: "600",
  release: "at-once",
  reservedConcurrency: "profile/authenticate:50,population-density/deliver:10",
  signingKeySecretArn: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:operators-key-AbCdEf",
  throttlingBurst: "60",
  throttlingRate: "40",
  waf: "true",
} as const;

/** What several files of tests look at, by what stands behind `-c` on the command line of `cdk`. */
const contexts = {
  deployed: {},
  configured: everySetting,
  densityImport: { stage: "dev", densityImport: "true" },
} as const;

/** The name of a synthesis that several files of tests look at. */
export type SharedName = keyof typeof contexts;

/**
 * What every deployment must say, and that bundles are named where they are and not copied, which takes longer than the
 * rest.
 */
const always = { alarmTopicArn: "none", "aws:cdk:disable-asset-staging": true };

/** Makes the application as `cdk` would, with what stands behind `-c` on its command line, and uses it. */
export function withAppOf<Result>(
  bundles: string,
  context: Readonly<Record<string, unknown>>,
  use: (app: App, folder: string) => Result,
): Result {
  const folder = mkdtempSync(join(tmpdir(), "network-capabilities-template-"));
  const before = process.env.CDK_CONTEXT_JSON;
  try {
    process.env.CDK_CONTEXT_JSON = JSON.stringify({ ...always, ...context });
    const app = networkCapabilities({ outdir: folder, bundles, validation: false });
    app.synth();
    return use(app, folder);
  } finally {
    if (before === undefined) delete process.env.CDK_CONTEXT_JSON;
    else process.env.CDK_CONTEXT_JSON = before;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes what several files of tests look at, each into a folder with its name: templates and manifests. */
export function writeSharedTemplates(bundles: string, into: string): void {
  for (const [name, context] of Object.entries(contexts)) {
    const own = join(into, name);
    mkdirSync(own, { recursive: true });
    withAppOf(bundles, context, (_, folder) => {
      for (const file of readdirSync(folder).filter((one) => one.endsWith(".json"))) {
        copyFileSync(join(folder, file), join(own, file));
      }
    });
  }
}
