import { App } from "aws-cdk-lib";
import { defaultBundles } from "./bundles.ts";
import { DataStack, tableNamesOf } from "./data.ts";
import { DensityImportStack } from "./density-import.ts";
import { settingsIn } from "./settings.ts";
import { NetworkCapabilitiesStack } from "./stack.ts";
import {
  dataStackName,
  densityImportStackName,
  densityImportStackOf,
  stackName,
  stackNames,
} from "./stack-names.ts";
import { stages } from "./stage.ts";

interface Synthesis {
  /** The folder of the assembly; CDK's own choice when absent. */
  readonly outdir?: string;
  readonly bundles?: string;
  /** Settings that override the context: those of a local run. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether CDK validates the finished template, which takes longer than making it. */
  readonly validation?: boolean;
}

/** The CDK application, the same for `cdk` and for a local run. `Settings` describes its context. */
export function networkCapabilities({
  outdir,
  bundles = defaultBundles,
  settings: overriding,
  validation = true,
}: Synthesis = {}): App {
  const app = new App({
    analyticsReporting: false,
    // Stack traces and the construct tree take longer than the synthesis itself.
    stackTraces: false,
    treeMetadata: false,
    builtinCloudFormationValidation: validation,
    context: {
      "@aws-cdk/aws-iam:minimizePolicies": true,
      "@aws-cdk/core:checkSecretUsage": true,
      // What CloudFormation would refuse ends the synthesis, and is no mere warning.
      "@aws-cdk/core:validateAgainstDefaultRules": true,
      // The stack of the tables cannot be deleted while functions use its key.
      "@aws-cdk/core:defaultCrossStackReferences": "strong",
      // A stage keeps serving the authorizer it was deployed with.
      "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId": true,
      // Alarms that a release shall not heed are taken off what CodeDeploy watches.
      "@aws-cdk/aws-codedeploy:removeAlarmsFromDeploymentGroup": true,
    },
    ...(overriding === undefined ? {} : { postCliContext: overriding }),
    ...(outdir === undefined ? {} : { outdir }),
  });
  const settings = settingsIn(app.node);
  const { stage: chosenStage, tableNames: chosenNames } = settings;
  const name = stackNames[chosenStage];
  const tableNames = tableNamesOf(name, chosenNames);
  const data = new DataStack(app, dataStackName, {
    description: "Tables of the Network Capabilities Service",
    stackName: `${name}-data`,
    traits: stages[chosenStage],
    tableNames,
    chosenNames,
  });
  const service = new NetworkCapabilitiesStack(app, stackName, {
    description: "Network Capabilities Service",
    stackName: name,
    bundles,
    settings,
    dataKey: data.key,
    tableNames,
  });
  service.addStackDependency(data);
  if (settings.densityImport) {
    const densityImport = new DensityImportStack(app, densityImportStackName, {
      description: "Import of densities into the Network Capabilities Service",
      stackName: densityImportStackOf(name),
      bundles,
      settings,
      dataKey: data.key,
      tableName: tableNames.densities,
    });
    densityImport.addStackDependency(data);
  }
  return app;
}
