import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { networkCapabilities } from "./app.ts";

// What `cdk` runs: see cdk.json.
const app = networkCapabilities();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
