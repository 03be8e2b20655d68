import { localLogStream } from "../../../shared/environment.ts";
import { withoutProfiles } from "../servers/aws-variables.ts";
import type { Credentials } from "../servers/backing-server.ts";
import type { LocalFunction } from "../template/functions.ts";
import { region } from "../template/physical-names.ts";

/** What a function's environment is made of in addition to the template. */
export interface Surroundings {
  readonly databaseEndpoint: string;
  readonly secretsEndpoint: string;
  /** Undefined if there are no queues. */
  readonly queueEndpoint: string | undefined;
  readonly credentials: Credentials;
  /** The environment of the shell. */
  readonly shell: NodeJS.ProcessEnv;
  /** Names of the variables that the shell may set. */
  readonly configuration: readonly string[];
  readonly extra: Readonly<Record<string, string>>;
}

/**
 * The environment of a function. It gets only the configuration of the shell's variables and, if the shell itself runs
 * in Lambda, `AWS_LAMBDA_RUNTIME_API`, because no sink may have that address. Reserved names:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export function functionEnvironment(
  definition: LocalFunction,
  surroundings: Surroundings,
): Record<string, string> {
  const { queueEndpoint, credentials, shell, configuration, extra } = surroundings;
  const overrides = configuration.flatMap((name) => {
    const value = shell[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...definition.environment,
    ...Object.fromEntries(overrides),
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(credentials.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: credentials.sessionToken }),
    AWS_ENDPOINT_URL_DYNAMODB: surroundings.databaseEndpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: surroundings.secretsEndpoint,
    ...(queueEndpoint === undefined ? {} : { AWS_ENDPOINT_URL_SQS: queueEndpoint }),
    ...withoutProfiles,
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMegabytes),
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: localLogStream,
    ...(shell.AWS_LAMBDA_RUNTIME_API ? { AWS_LAMBDA_RUNTIME_API: shell.AWS_LAMBDA_RUNTIME_API } : {}),
    LAMBDA_TASK_ROOT: definition.assetDirectory,
    TZ: ":UTC",
    _HANDLER: definition.handler,
    ...extra,
  };
}
