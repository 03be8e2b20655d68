import type { EndpointId, TableName } from "../functions/areas.ts";
import type { VariableName } from "../shared/environment.ts";
import type { QueueName } from "../shared/sqs/queues.ts";

/** Functions that are not behind a route of their own. */
type InternalFunctionId =
  | "authorizer/authorize"
  | "keys/rotate"
  | "population-density/deliver"
  | "population-density/fail"
  | "population-density/sweep";

/** A function of the service: its handler's file below `functions/`. */
export type FunctionId = EndpointId | InternalFunctionId;

/** What a function may do with a table. There is no `Scan`: what needs one needs another key. */
type TableAction = "BatchGetItem" | "DeleteItem" | "GetItem" | "PutItem" | "Query" | "UpdateItem";

/** What a function may do with a queue, beside what its messages' arrival needs. */
type QueueAction = "ChangeMessageVisibility" | "SendMessage";

/** What a function may do with the secret of the signing key. */
type SecretAction = "DescribeSecret" | "GetSecretValue" | "PutSecretValue" | "UpdateSecretVersionStage";

/** What a function may touch and what it is told: its rights and its environment. */
export interface Access {
  /** Each grant also puts the table's name into the environment. */
  readonly tables?: Readonly<Partial<Record<TableName, readonly TableAction[]>>>;
  readonly signingKey?: readonly SecretAction[];
  /** Each grant also puts the queue's address into the environment. */
  readonly queues?: Readonly<Partial<Record<QueueName, readonly QueueAction[]>>>;
  /** The queue whose messages invoke the function; it may receive and delete them. */
  readonly consumes?: QueueName;
  readonly variables?: readonly VariableName[];
  /** How often the function is run, by a schedule of its own. */
  readonly everyMinutes?: number;
}

/** Every endpoint that needs a token counts the caller's requests. */
const quotaTable = { quotas: ["GetItem", "UpdateItem"] } as const;
const quotaVariables = ["RATE_LIMIT_PER_MINUTE", "DAILY_QUOTA"] as const;

/** What work on a job takes: the job, its caller's places, permits of uploads. */
const jobTables = {
  "density-jobs": ["GetItem", "UpdateItem"],
  "density-callers": ["UpdateItem"],
  "density-permits": ["DeleteItem", "GetItem", "PutItem", "Query"],
} as const;

/** Every grant of the stack. A function without a line does not compile. */
export const access: Readonly<Record<FunctionId, Access>> = {
  "authorizer/authorize": {
    tables: { "signing-keys": ["Query"] },
    variables: ["TOKEN_ISSUER", "TOKEN_AUDIENCE", "TRUSTED_ISSUERS", "ROUTES_BY_SCOPE"],
  },
  "profile/authenticate": {
    tables: {
      profiles: ["GetItem", "UpdateItem"],
      "login-attempts": ["GetItem", "UpdateItem"],
      "signing-keys": ["PutItem"],
    },
    signingKey: ["GetSecretValue"],
    variables: [
      "TOKEN_ISSUER",
      "TOKEN_AUDIENCE",
      "TOKEN_LIFETIME_SECONDS",
      "LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE",
      "LOGIN_LIMIT_PER_ACCOUNT",
      "LOGIN_LIMIT_PER_SOURCE",
      "SIGNING_KEY_SECRET_ARN",
    ],
  },
  "qos-profiles/retrieve": {
    tables: { "qos-profiles": ["Query"], devices: ["GetItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "qos-profiles/get-by-name": {
    tables: { "qos-profiles": ["GetItem"], devices: ["GetItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "population-density/retrieve": {
    tables: {
      densities: ["BatchGetItem"],
      "density-jobs": ["BatchGetItem", "GetItem", "PutItem", "UpdateItem"],
      "density-callers": ["GetItem", "UpdateItem"],
      ...quotaTable,
    },
    queues: { "density-jobs": ["SendMessage"] },
    variables: [
      "DENSITY_PRECISIONS",
      "DENSITY_SYNC_LIMIT",
      "DENSITY_ASYNC_LIMIT",
      "DENSITY_PENDING_LIMIT",
      "SINK_ALLOWED_NETWORKS",
      ...quotaVariables,
    ],
  },
  "population-density/deliver": {
    tables: { densities: ["BatchGetItem"], ...jobTables },
    queues: {
      "density-jobs": ["ChangeMessageVisibility"],
      "density-jobs-dlq": ["ChangeMessageVisibility"],
    },
    consumes: "density-jobs",
    variables: ["SINK_RETRY_SECONDS", "SINK_ALLOWED_NETWORKS"],
  },
  "population-density/fail": {
    tables: jobTables,
    queues: {
      "density-jobs-dlq": ["ChangeMessageVisibility"],
      "density-jobs": ["ChangeMessageVisibility"],
    },
    consumes: "density-jobs-dlq",
    variables: ["SINK_RETRY_SECONDS", "SINK_ALLOWED_NETWORKS"],
  },
  "population-density/sweep": {
    tables: { "density-jobs": ["GetItem", "Query", "UpdateItem"], "density-callers": ["UpdateItem"] },
    queues: { "density-jobs": ["SendMessage"] },
    everyMinutes: 1,
  },
  "number-recycling/check": {
    tables: { "number-assignments": ["Query"], devices: ["GetItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "device-identifier/retrieve": {
    tables: { devices: ["GetItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "keys/publish": { tables: { "signing-keys": ["Query"] } },
  "openapi/publish": {},
  "keys/rotate": {
    tables: { "signing-keys": ["PutItem", "Query", "UpdateItem"] },
    signingKey: ["DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage"],
    variables: ["TOKEN_LIFETIME_SECONDS"],
  },
};
