import { App } from "aws-cdk-lib";
import { defaultBundles } from "./bundles.ts";
import { DataStack } from "./data.ts";
import { MonitoringStack } from "./monitoring.ts";
import { readSettings } from "./settings.ts";
import { settingsIn } from "./settings-source.ts";
import { NetworkCapabilitiesStack } from "./stack.ts";
import { dataStackName, monitoringStackName, stackName, stackNames } from "./stack-names.ts";
import { stages } from "./stage.ts";
import { tableNamesOf } from "./table-names.ts";

interface Synthesis {
  /** The folder of the assembly; CDK's own choice when absent. */
  readonly outdir?: string;
  readonly bundles?: string;
  /** Instead of those of the context: the settings of a local run. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether CDK validates the finished template, which takes longer than making it. */
  readonly validation?: boolean;
}

/** The CDK application, the same for `cdk` and for a local run. */
export function networkCapabilities({
  outdir,
  bundles = defaultBundles,
  settings: own,
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
      // Synthesis fails for what CloudFormation would refuse, instead of warning.
      "@aws-cdk/core:validateAgainstDefaultRules": true,
      // The stack of the tables cannot be deleted while functions use its key.
      "@aws-cdk/core:defaultCrossStackReferences": "strong",
      // Without a new deployment of the API, a stage would keep its previous authorizer.
      "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId": true,
      // A release that ignores alarms removes them from its deployment group.
      "@aws-cdk/aws-codedeploy:removeAlarmsFromDeploymentGroup": true,
    },
    ...(outdir === undefined ? {} : { outdir }),
  });
  const settings = own === undefined ? settingsIn(app.node.getAllContext()) : readSettings(own);
  const { stage: chosenStage, tableNames: chosenNames, account, region } = settings;
  const name = stackNames[chosenStage];
  const tableNames = tableNamesOf(name, chosenNames);
  // Without it, a stack is for the account and region of the shell.
  const env = {
    ...(account === undefined ? {} : { account }),
    ...(region === undefined ? {} : { region }),
  };
  // CloudFormation adds a stack's tags to all of its resources that support tags.
  const tags = { service: "network-capabilities", stage: chosenStage };
  const data = new DataStack(app, dataStackName, {
    description: "Tables of the Network Capabilities Service",
    stackName: `${name}-data`,
    env,
    tags,
    traits: stages[chosenStage],
    tableNames,
    chosenNames,
    warmThroughput: settings.warmThroughput,
  });
  const service = new NetworkCapabilitiesStack(app, stackName, {
    description: "Network Capabilities Service",
    stackName: name,
    env,
    tags,
    bundles,
    settings,
    dataKey: data.key,
    tableNames,
  });
  service.addStackDependency(data);
  const monitoring = new MonitoringStack(app, monitoringStackName, {
    description: "Alarms of the Network Capabilities Service",
    stackName: `${name}-monitoring`,
    env,
    tags,
    settings,
    watched: service.watched,
  });
  monitoring.addStackDependency(service);
  return app;
}
