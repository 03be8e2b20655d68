import { localLogStream } from "../../../shared/environment.ts";
import { queueVariable } from "../../../shared/sqs/queues.ts";
import { region } from "../declared/aws-names.ts";
import type { LocalFunction } from "../declared/declarations.ts";
import { withoutProfiles } from "../servers/aws-variables.ts";
import type { Credentials } from "../servers/backing-server.ts";
import type { QueueUrls } from "../servers/queue-server.ts";

/** What a function's environment is made of in addition to what its stack gives it. */
export interface Surroundings {
  readonly databaseEndpoint: string;
  readonly secretsEndpoint: string;
  readonly queueEndpoint: string;
  readonly queueUrls: QueueUrls;
  readonly credentials: Credentials;
  /** The environment of the shell: nothing else of it than the address of a Runtime API is passed on. */
  readonly shell: NodeJS.ProcessEnv;
  readonly extra: Readonly<Record<string, string>>;
}

/**
 * The environment of a function. If the shell itself runs in Lambda, `AWS_LAMBDA_RUNTIME_API` is in it, because no sink
 * may have that address. Reserved names: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export function functionEnvironment(
  { variables, queues }: Pick<LocalFunction, "variables" | "queues">,
  surroundings: Surroundings,
): Record<string, string> {
  const { queueUrls, credentials, shell, extra } = surroundings;
  return {
    ...variables,
    ...Object.fromEntries(queues.map((queue) => [queueVariable(queue), queueUrls.get(queue) ?? ""])),
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(credentials.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
    AWS_ENDPOINT_URL_DYNAMODB: surroundings.databaseEndpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: surroundings.secretsEndpoint,
    AWS_ENDPOINT_URL_SQS: surroundings.queueEndpoint,
    ...withoutProfiles,
    // Functions share a thread, so none is named.
    AWS_LAMBDA_FUNCTION_NAME: localLogStream,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_STREAM_NAME: localLogStream,
    ...(shell.AWS_LAMBDA_RUNTIME_API ? { AWS_LAMBDA_RUNTIME_API: shell.AWS_LAMBDA_RUNTIME_API } : {}),
    TZ: ":UTC",
    ...extra,
  };
}
