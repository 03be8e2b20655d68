/** What the resources of a local run are called. They are the same at every start, since `--keep` finds them by name. */
import type { TableName } from "../../../functions/areas.ts";
import { stackNames } from "../../../infra/stack-names.ts";
import { tableNamesOf } from "../../../infra/table-names.ts";
import type { QueueName } from "../../../shared/sqs/queues.ts";

/** The region in local ARNs. */
export const region = "eu-west-1";

/** The account in local ARNs. */
export const account = "000000000000";

/** The id of the API in the ARNs of its methods: AWS gives each ten letters and digits. */
export const apiId = "localapi00";

/** The secret with the signing key; AWS ends its ARN with a hyphen and six letters. */
export const signingKeySecret = {
  name: "SigningKey",
  arn: arn("secretsmanager", "secret:SigningKey-local0"),
};

const tableNames = tableNamesOf(stackNames.dev, {});

/** The name of a table: that of the stage `dev`. */
export function tableNameOf(table: TableName): string {
  return tableNames[table][0];
}

/** The ARN of a queue in events; the server has one of its own. */
export function queueArnOf(queue: QueueName): string {
  return arn("sqs", queue);
}

/** The name of a function in its environment and its context. */
export function functionNameOf(id: string): string {
  return id.replaceAll("/", "-");
}

/** The ARN of a function. */
export function functionArnOf(id: string): string {
  return arn("lambda", `function:${functionNameOf(id)}`);
}

/** The ARN of the rule that invokes a function regularly. */
export function ruleArnOf(id: string): string {
  return arn("events", `rule/${functionNameOf(id)}`);
}

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}
