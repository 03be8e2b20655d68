import type { Stage } from "./stage.ts";

/** The stack of `prod`, and the name of any stage's template in the assembly. */
export const stackName = "NetworkCapabilities";

/** The name of the template with the tables in the assembly, in any stage. */
export const dataStackName = `${stackName}Data`;

/** The CloudFormation stack of each stage, without its tables: a deployment of one never changes the other. */
export const stackNames: Readonly<Record<Stage, string>> = { dev: `${stackName}-dev`, prod: stackName };

/** The name of the template with the alarms of the whole service in the assembly, in any stage. */
export const monitoringStackName = `${stackName}Monitoring`;
