import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { Misconfigured } from "../shared/errors.ts";
import { networkCapabilities } from "./app.ts";
import { SettingError } from "./setting-error.ts";

// What `cdk` runs: see cdk.json.
try {
  const app = networkCapabilities();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (error) {
  if (!(error instanceof SettingError || error instanceof Misconfigured)) throw error;
  // A stack trace means nothing to the person who set it.
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
