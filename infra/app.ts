import { App } from "aws-cdk-lib";
import { defaultBundles } from "./bundles.ts";
import { NetworkCapabilitiesStack } from "./stack.ts";

/** The stack's name, and so the name of its template in the assembly. */
export const stackName = "NetworkCapabilities";

interface Synthesis {
  /** The folder of the assembly; CDK's own choice when absent. */
  readonly outdir?: string;
  readonly bundles?: string;
  /** Whether CDK looks through the finished template for mistakes, which takes longer than making it. */
  readonly validation?: boolean;
}

/** The CDK application, the same for `cdk` and for a local run. Context: `signingKeySecretArn`. */
export function networkCapabilities({
  outdir,
  bundles = defaultBundles,
  validation = true,
}: Synthesis = {}): App {
  const app = new App({
    analyticsReporting: false,
    // Traces of where a construct was made and a tree of all of them take longer than the synthesis itself.
    stackTraces: false,
    treeMetadata: false,
    builtinCloudFormationValidation: validation,
    context: {
      "@aws-cdk/aws-iam:minimizePolicies": true,
      "@aws-cdk/core:checkSecretUsage": true,
      // A stage keeps serving the authorizer it was deployed with.
      "@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId": true,
    },
    ...(outdir === undefined ? {} : { outdir }),
  });
  const signingKeySecretArn: unknown = app.node.tryGetContext("signingKeySecretArn");
  if (signingKeySecretArn !== undefined && !isSecretArn(signingKeySecretArn)) {
    throw new Error("signingKeySecretArn is not the full ARN of a secret");
  }
  new NetworkCapabilitiesStack(app, stackName, {
    description: "Network Capabilities Service",
    bundles,
    ...(signingKeySecretArn === undefined ? {} : { signingKeySecretArn }),
  });
  return app;
}

function isSecretArn(value: unknown): value is string {
  return typeof value === "string" && /^arn:[^:]+:secretsmanager:[^:]+:\d{12}:secret:.+$/.test(value);
}
