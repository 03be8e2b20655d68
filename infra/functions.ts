import type { EndpointId, ProtocolEndpointId, TableName, WebsiteId } from "../functions/areas.ts";
import { streamingSeconds } from "../shared/http/deadline.ts";
import type { PseudonymUse } from "../shared/pseudonym-keys/table.ts";
import { type QueueName, workerSeconds } from "../shared/sqs/queues.ts";
import type { VariableName } from "./variables.ts";

/** Functions that are behind no operation of the API. */
type InternalFunctionId =
  | "authorizer/authorize"
  | "keys/rotate"
  | "population-density/deliver"
  | "population-density/sweep"
  | ProtocolEndpointId
  | WebsiteId;

/** A function of the service: its area and the name of its handler's file. */
export type FunctionId = EndpointId | InternalFunctionId;

/**
 * What a function may do with a table. There is no `Scan`: a query that needs one needs another key. `PartiQLInsert`
 * creates items and never replaces one.
 */
type TableAction =
  | "BatchGetItem"
  | "DeleteItem"
  | "GetItem"
  | "PartiQLInsert"
  | "PutItem"
  | "Query"
  | "UpdateItem";

/** What a function may do with a queue, in addition to receiving and deleting messages of the one it consumes. */
type QueueAction = "ChangeMessageVisibility" | "SendMessage";

/** What a function may do with the secret of the signing key. */
type SecretAction = "DescribeSecret" | "GetSecretValue" | "PutSecretValue" | "UpdateSecretVersionStage";

/**
 * Everything that the stack needs to make a function: rights, environment, size, and what invokes it in addition to a route.
 */
export interface FunctionRecord {
  /**
   * The id of its construct, with which the logical ids of all its resources begin. It stays when the handler moves to
   * another folder, since CloudFormation would take another id for another function.
   */
  readonly constructId: string;
  /** The file with its handler, from the root of the project. */
  readonly handler: string;
  /**
   * The number of the role by which CodeDeploy shifts it: at most four functions have the same (`maxGroupsOfRole`).
   * It stays when other functions come and go. Absent for a function that no release shifts.
   */
  readonly releaseRole?: number;
  /** Each grant also puts the table's name into the environment. */
  readonly tables?: Readonly<Partial<Record<TableName, readonly TableAction[]>>>;
  /** The indexes of a table that it queries; `Query` of a table is for the table alone. */
  readonly indexes?: Readonly<Partial<Record<TableName, readonly string[]>>>;
  /** The only partitions that it may use of a table; all unless given. */
  readonly partitions?: Readonly<Partial<Record<TableName, readonly string[]>>>;
  readonly signingKey?: readonly SecretAction[];
  /** Each grant also puts the queue's address into the environment. */
  readonly queues?: Readonly<Partial<Record<QueueName, readonly QueueAction[]>>>;
  /** The queue whose messages invoke the function; it may receive and delete them. */
  readonly consumes?: QueueName;
  readonly variables?: readonly VariableName[];
  /** The interval of its schedule, if it has one. */
  readonly everyMinutes?: number;
  /** `functionDefaults` unless given. */
  readonly timeoutSeconds?: number;
  /** `functionDefaults` unless given. */
  readonly memoryMegabytes?: number;
  /** What people lose while it fails, for its alarms. The default for an endpoint: its callers get 5xx. */
  readonly impact?: string;
}

/** What a function has unless its record says otherwise. */
export const functionDefaults = { timeoutSeconds: 10, memoryMegabytes: 512 } as const;

type InternalFunctionRecord = FunctionRecord & Required<Pick<FunctionRecord, "impact">>;

/** Every endpoint that needs a token, or issues one to a client, counts the caller's requests. */
const quotaTable = { quotas: ["GetItem", "UpdateItem"] } as const;
/** Every function that answers with data about a subscriber records it; the first one ever makes the key. */
const accessTables = {
  // PutItem could replace a record.
  "access-records": ["PartiQLInsert"],
  "pseudonym-keys": ["GetItem", "PartiQLInsert"],
} as const;
/** The keys that a function reads, or makes if there are none. */
const pseudonymKeysOf = (...uses: readonly PseudonymUse[]) => ({ "pseudonym-keys": uses });
const accessVariable = "ACCESS_RECORD_DAYS";
/** The variable of functions that answer from what they have read before. */
const cacheVariable = "CACHE_SECONDS";
/** The variable of functions that look up the device of a caller's choice. */
const sandboxVariable = "SANDBOX";
const quotaVariables = ["RATE_LIMIT_PER_MINUTE", "DAILY_QUOTA"] as const;

/** Every function of the stack, with every grant. One without a record does not compile. */
export const functionRecords: Readonly<
  Record<EndpointId, FunctionRecord> & Record<InternalFunctionId, InternalFunctionRecord>
> = {
  "authorizer/authorize": {
    constructId: "AuthorizerAuthorize",
    handler: "functions/authorizer/authorize.ts",
    releaseRole: 1,
    tables: { "signing-keys": ["Query"], "pseudonym-keys": ["GetItem"] },
    partitions: pseudonymKeysOf("token-subjects"),
    variables: ["TOKEN_ISSUER", "TOKEN_AUDIENCE", "TRUSTED_ISSUERS", "ROUTES_BY_SCOPE"],
    impact: "Callers with valid tokens are refused",
  },
  "profile/authenticate": {
    constructId: "ProfileAuthenticate",
    handler: "functions/profile/authenticate.ts",
    releaseRole: 1,
    tables: {
      profiles: ["GetItem", "UpdateItem"],
      "login-attempts": ["GetItem", "UpdateItem"],
      "signing-keys": ["PutItem"],
      "pseudonym-keys": ["GetItem", "PartiQLInsert"],
    },
    partitions: pseudonymKeysOf("token-subjects"),
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
    // One whole CPU: the hash of a password takes a quarter of the time that it takes at 512 MB, at the same price.
    memoryMegabytes: 1_769,
  },
  "qos-profiles/retrieve": {
    constructId: "QosProfilesRetrieve",
    handler: "functions/qos-profiles/retrieve.ts",
    releaseRole: 1,
    tables: { "qos-profiles": ["Query"], devices: ["GetItem"], ...accessTables, ...quotaTable },
    partitions: pseudonymKeysOf("access-records"),
    variables: [accessVariable, cacheVariable, sandboxVariable, ...quotaVariables],
  },
  "qos-profiles/get-by-name": {
    constructId: "QosProfilesGetByName",
    handler: "functions/qos-profiles/get-by-name.ts",
    releaseRole: 1,
    tables: { "qos-profiles": ["GetItem"], devices: ["GetItem"], ...accessTables, ...quotaTable },
    partitions: pseudonymKeysOf("access-records"),
    variables: [accessVariable, cacheVariable, ...quotaVariables],
  },
  "population-density/retrieve": {
    constructId: "PopulationDensityRetrieve",
    handler: "functions/population-density/retrieve.ts",
    releaseRole: 2,
    tables: {
      densities: ["BatchGetItem", "GetItem"],
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
      cacheVariable,
      ...quotaVariables,
    ],
    timeoutSeconds: streamingSeconds,
    memoryMegabytes: 1_024,
  },
  "population-density/summarize": {
    constructId: "PopulationDensitySummarize",
    handler: "functions/population-density/summarize.ts",
    releaseRole: 2,
    tables: { densities: ["BatchGetItem", "GetItem"], ...quotaTable },
    variables: [
      "DENSITY_PRECISIONS",
      "DENSITY_SYNC_LIMIT",
      "DENSITY_ASYNC_LIMIT",
      cacheVariable,
      ...quotaVariables,
    ],
    timeoutSeconds: streamingSeconds,
    memoryMegabytes: 1_024,
  },
  "population-density/capabilities": {
    constructId: "PopulationDensityCapabilities",
    handler: "functions/population-density/capabilities/capabilities.ts",
    releaseRole: 2,
    tables: { densities: ["GetItem"], ...quotaTable },
    variables: [
      "DENSITY_PRECISIONS",
      "DENSITY_SYNC_LIMIT",
      "DENSITY_ASYNC_LIMIT",
      "DENSITY_PENDING_LIMIT",
      "DENSITY_K",
      cacheVariable,
      ...quotaVariables,
    ],
  },
  "population-density/list-operations": {
    constructId: "PopulationDensityListOperations",
    handler: "functions/population-density/operations/list-operations.ts",
    releaseRole: 2,
    tables: { "density-jobs": ["BatchGetItem"], ...quotaTable },
    indexes: { "density-jobs": ["by-caller"] },
    variables: quotaVariables,
  },
  "population-density/read-operation": {
    constructId: "PopulationDensityReadOperation",
    handler: "functions/population-density/operations/read-operation.ts",
    releaseRole: 3,
    tables: { "density-jobs": ["GetItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "population-density/cancel-operation": {
    constructId: "PopulationDensityCancelOperation",
    handler: "functions/population-density/operations/cancel-operation.ts",
    releaseRole: 3,
    tables: { "density-jobs": ["GetItem", "UpdateItem"], "density-callers": ["UpdateItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "population-density/redeliver-operation": {
    constructId: "PopulationDensityRedeliverOperation",
    handler: "functions/population-density/operations/redeliver-operation.ts",
    releaseRole: 3,
    tables: {
      "density-jobs": ["BatchGetItem", "GetItem", "PutItem", "UpdateItem"],
      "density-callers": ["GetItem", "UpdateItem"],
      ...quotaTable,
    },
    queues: { "density-jobs": ["SendMessage"] },
    variables: ["DENSITY_PENDING_LIMIT", "SINK_ALLOWED_NETWORKS", ...quotaVariables],
  },
  "population-density/create-webhook-secret": {
    constructId: "PopulationDensityCreateWebhookSecret",
    handler: "functions/population-density/webhook-secrets/create-webhook-secret.ts",
    releaseRole: 3,
    tables: { "webhook-secrets": ["GetItem", "UpdateItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "population-density/list-webhook-secrets": {
    constructId: "PopulationDensityListWebhookSecrets",
    handler: "functions/population-density/webhook-secrets/list-webhook-secrets.ts",
    releaseRole: 4,
    tables: { "webhook-secrets": ["GetItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "population-density/delete-webhook-secret": {
    constructId: "PopulationDensityDeleteWebhookSecret",
    handler: "functions/population-density/webhook-secrets/delete-webhook-secret.ts",
    releaseRole: 4,
    tables: { "webhook-secrets": ["GetItem", "UpdateItem"], ...quotaTable },
    variables: quotaVariables,
  },
  "population-density/deliver": {
    constructId: "PopulationDensityDeliver",
    handler: "functions/population-density/delivery/deliver.ts",
    releaseRole: 4,
    tables: {
      densities: ["BatchGetItem", "GetItem"],
      "density-jobs": ["GetItem", "UpdateItem"],
      "density-callers": ["UpdateItem"],
      "density-permits": ["GetItem", "PutItem", "UpdateItem"],
      "webhook-secrets": ["GetItem"],
    },
    indexes: { "density-jobs": ["waiting"] },
    queues: { "density-jobs": ["ChangeMessageVisibility"] },
    consumes: "density-jobs",
    variables: ["MAX_WORKERS", "SINK_RETRY_SECONDS", "SINK_ALLOWED_NETWORKS", cacheVariable],
    timeoutSeconds: workerSeconds,
    memoryMegabytes: 1_024,
    impact: "Callers wait for accepted densities",
  },
  "population-density/sweep": {
    constructId: "PopulationDensitySweep",
    handler: "functions/population-density/delivery/sweep.ts",
    releaseRole: 4,
    tables: {
      densities: ["GetItem"],
      "density-jobs": ["GetItem", "UpdateItem"],
      "density-callers": ["UpdateItem"],
    },
    // The item that says which day was observed last.
    partitions: { densities: ["data-set"] },
    indexes: { "density-jobs": ["pending-by-shard"] },
    queues: { "density-jobs": ["SendMessage"] },
    everyMinutes: 1,
    timeoutSeconds: 30,
    impact: "Callers wait for densities whose message was lost",
  },
  "number-recycling/check": {
    constructId: "NumberRecyclingCheck",
    handler: "functions/number-recycling/check.ts",
    releaseRole: 5,
    tables: { "number-assignments": ["Query"], devices: ["GetItem"], ...accessTables, ...quotaTable },
    partitions: pseudonymKeysOf("access-records"),
    variables: [accessVariable, sandboxVariable, ...quotaVariables],
  },
  "device-identifier/retrieve": {
    constructId: "DeviceIdentifierRetrieve",
    handler: "functions/device-identifier/retrieve.ts",
    releaseRole: 5,
    tables: { devices: ["GetItem"], ...accessTables, ...quotaTable },
    partitions: pseudonymKeysOf("access-records"),
    variables: [accessVariable, sandboxVariable, ...quotaVariables],
  },
  "device-identifier/retrieve-type": {
    constructId: "DeviceIdentifierRetrieveType",
    handler: "functions/device-identifier/retrieve-type.ts",
    releaseRole: 5,
    tables: { devices: ["GetItem"], ...accessTables, ...quotaTable },
    partitions: pseudonymKeysOf("access-records"),
    variables: [accessVariable, sandboxVariable, ...quotaVariables],
  },
  // The key of the pseudonyms that it returns is in the table of that of access records.
  "device-identifier/retrieve-ppid": {
    constructId: "DeviceIdentifierRetrievePpid",
    handler: "functions/device-identifier/retrieve-ppid.ts",
    releaseRole: 5,
    tables: { devices: ["GetItem"], ...accessTables, ...quotaTable },
    partitions: pseudonymKeysOf("access-records", "device-ppids"),
    variables: [accessVariable, sandboxVariable, ...quotaVariables],
  },
  "keys/publish": {
    constructId: "KeysPublish",
    handler: "functions/keys/publish.ts",
    releaseRole: 6,
    tables: { "signing-keys": ["Query"] },
    variables: [cacheVariable],
  },
  "openapi/publish": {
    constructId: "OpenapiPublish",
    handler: "functions/openapi/publish.ts",
    releaseRole: 6,
    variables: ["TOKEN_ENDPOINT", "TOKEN_ISSUER", sandboxVariable],
  },
  "openapi/catalog": {
    constructId: "OpenapiCatalog",
    handler: "functions/openapi/catalog.ts",
    releaseRole: 6,
  },
  "console/publish": {
    constructId: "ConsolePublish",
    handler: "functions/console/publish.ts",
    releaseRole: 6,
    variables: ["MAP_STYLE"],
    impact: "People cannot open the map and the reference; the API is not affected",
  },
  "oauth2/token": {
    constructId: "Oauth2Token",
    handler: "functions/oauth2/token.ts",
    releaseRole: 7,
    tables: {
      clients: ["GetItem"],
      "used-assertions": ["GetItem", "PutItem"],
      devices: ["GetItem"],
      "signing-keys": ["PutItem"],
      ...accessTables,
      ...quotaTable,
    },
    partitions: pseudonymKeysOf("access-records", "token-subjects"),
    signingKey: ["GetSecretValue"],
    variables: [
      "TOKEN_ISSUER",
      "TOKEN_AUDIENCE",
      "TOKEN_LIFETIME_SECONDS",
      "SIGNING_KEY_SECRET_ARN",
      "SINK_ALLOWED_NETWORKS",
      accessVariable,
      cacheVariable,
      ...quotaVariables,
    ],
    impact: "Clients get no tokens by their keys",
  },
  "oauth2/metadata": {
    constructId: "Oauth2Metadata",
    handler: "functions/oauth2/metadata.ts",
    releaseRole: 7,
    variables: ["TOKEN_ISSUER", "ROUTES_BY_SCOPE"],
    impact: "Clients do not find where tokens are issued",
  },
  "keys/rotate": {
    constructId: "KeysRotate",
    handler: "functions/keys/rotate.ts",
    tables: { "signing-keys": ["PutItem", "Query", "UpdateItem"] },
    signingKey: ["DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage"],
    variables: ["TOKEN_LIFETIME_SECONDS"],
    timeoutSeconds: 30,
    impact:
      "People who log in get tokens of a key that should have been replaced, or no tokens before there is a first key",
  },
};

/** The function that checks a release before it is shifted; stages without gradual releases have none. */
export type ReleaseCheckId = "releases/check";

/** Every function that has a bundle: those of the service first. */
export const bundledRecords: Readonly<Record<FunctionId | ReleaseCheckId, FunctionRecord>> = {
  ...functionRecords,
  // Three attempts of 40 seconds, and the pauses between them.
  "releases/check": {
    constructId: "ReleasesCheck",
    handler: "functions/releases/check.ts",
    timeoutSeconds: 150,
  },
};
