import { endpoints, protocolEndpoints, type TableName, tables } from "../functions/areas.ts";
import { metricNamespaceVariable } from "../shared/environment.ts";
import { type QueueName, queueVariable } from "../shared/sqs/queues.ts";
import { tableVariable } from "../shared/table.ts";
import { type FunctionId, functionRecords } from "./functions.ts";
import { originsPattern } from "./origins.ts";
import { routesByScope } from "./routes-by-scope.ts";
import type { Settings } from "./settings.ts";
import { stages } from "./stage.ts";
import { configuration, type VariableName } from "./variables.ts";

/** What a stage calls the resources of its functions. */
export interface ResourceNames {
  readonly table: (name: TableName) => string;
  readonly queueUrl: (name: QueueName) => string;
  readonly signingKeySecretArn: string;
  readonly metricNamespace: string;
}

/** The variables of a function: exactly those of its record and, of an endpoint's, those that all endpoints have. */
export function functionVariables(
  id: FunctionId,
  settings: Pick<Settings, "configuration" | "corsOrigins" | "maxWorkers" | "stage">,
  { table, queueUrl, signingKeySecretArn, metricNamespace }: ResourceNames,
): Record<string, string> {
  const { tables: granted = {}, queues: used = {}, variables = [] } = functionRecords[id];
  const valueFor = (name: VariableName): string => {
    if (name === "SIGNING_KEY_SECRET_ARN") return signingKeySecretArn;
    if (name === "SANDBOX") return stages[settings.stage].sandbox ? "on" : "";
    if (name === "MAX_WORKERS") return String(settings.maxWorkers);
    if (name === "CORS_ORIGINS") return originsPattern(settings.corsOrigins);
    if (name === "ROUTES_BY_SCOPE") return JSON.stringify(routesByScope(endpoints));
    return settings.configuration[name] ?? configuration[name].default;
  };
  const isEndpoint = [...endpoints, ...protocolEndpoints].some((endpoint) => endpoint.id === id);
  const endpointVariables: readonly VariableName[] = isEndpoint ? ["CORS_ORIGINS"] : [];
  const named = tables.filter(({ name }) => granted[name] !== undefined);
  const queueNames = Object.keys(used) as QueueName[];
  return {
    LOG_LEVEL: valueFor("LOG_LEVEL"),
    [metricNamespaceVariable]: metricNamespace,
    ...Object.fromEntries(named.map((one) => [tableVariable(one), table(one.name)])),
    ...Object.fromEntries(queueNames.map((name) => [queueVariable(name), queueUrl(name)])),
    ...Object.fromEntries(
      [...variables, ...endpointVariables]
        .map((name) => [name, valueFor(name)])
        .filter(([, value]) => value !== ""),
    ),
  };
}
