import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { TableName } from "../../functions/areas.ts";
import type { ConfigurationName } from "../../infra/variables.ts";
import { keysOf } from "../../shared/devices/keys.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { type PrivateJwk, privateJwk } from "../../shared/tokens/token.ts";
import { signingKeySecret, tableNameOf } from "../../tools/local/declared/aws-names.ts";
import { loadDemo, ownIssuer } from "../../tools/local/demo-service.ts";
import { makeDemoTables } from "../../tools/local/demo-tables.ts";
import { Pages } from "../../tools/local/pages.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { chosenPort } from "../../tools/local/servers/listening-server.ts";
import { type LocalBackend, type LocalService, startLocalService } from "../../tools/local/service.ts";
import { storeSampleOperations } from "../../tools/sample-operations.ts";
import { busyMachine } from "./busy-machine.ts";
import { type Answer, answerOf } from "./client.ts";
import { storeQuickLogins } from "./quick-logins.ts";
import { uncached } from "./uncached.ts";

const aws = { region: "eu-west-1", credentials: embeddedCredentials };

/** A service for one test file, with a signing key of its own. */
export interface OwnService extends LocalService {
  readonly database: DynamoDBClient;
  readonly secrets: SecretsManagerClient;
  readonly secretId: string;
  readonly tableName: typeof tableNameOf;
  put(table: TableName, item: Readonly<Record<string, unknown>>): Promise<void>;
  /** Stores a device under each of its identifiers. */
  putDevice(device: DeviceRecord): Promise<void>;
  /** The newest signing key, which signs now or next. */
  signingKey(): Promise<PrivateJwk>;
  call(path: string, request?: RequestInit): Promise<Answer>;
  /** The log of functions, gateway and queue pollers so far. */
  output(): string;
}

type Endpoint = "AWS_ENDPOINT_URL_DYNAMODB" | "AWS_ENDPOINT_URL_SQS";

/**
 * Starts another service, with a configuration of its own; on request with demo data, or issuing tokens to
 * clients as `npm start` does.
 */
export async function startOwnService(
  environment: Readonly<Partial<Record<ConfigurationName | Endpoint, string>>> = {},
  { hasDemoData = false, isIssuer = false } = {},
): Promise<OwnService> {
  const written: Uint8Array[] = [];
  const port = await chosenPort(0);
  const pages = new Pages(() => {});
  const service = await startLocalService({
    environment: { ...(isIssuer ? ownIssuer(port) : {}), ...environment },
    deadlineFactor: Number(busyMachine.DEADLINE_FACTOR),
    extraEnvironment: { ...busyMachine, ...uncached },
    pages,
    port,
    ...(hasDemoData ? { beforeListening: importDemo } : {}),
    logs: { write: (chunk) => written.push(Buffer.from(chunk)) },
  });
  const database = new DynamoDBClient({ ...aws, endpoint: service.databaseEndpoint });
  const secrets = new SecretsManagerClient({ ...aws, endpoint: service.secretsEndpoint });
  const secretId = signingKeySecret.arn;
  const put: OwnService["put"] = async (table, item) => {
    const Item = marshall(item, { removeUndefinedValues: true });
    await database.send(new PutItemCommand({ TableName: tableNameOf(table), Item }));
  };
  if (hasDemoData) {
    await storeSampleOperations(put);
    await storeQuickLogins(database, tableNameOf("profiles"));
  }
  return {
    ...service,
    database,
    secrets,
    secretId,
    tableName: tableNameOf,
    put,
    putDevice: async (device) => {
      for (const identifier of keysOf(device)) await put("devices", { identifier, ...device });
    },
    signingKey: async () => {
      const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: secretId }));
      return privateJwk.parse(JSON.parse(SecretString ?? ""));
    },
    call: async (path, request = {}) => {
      const response = await fetch(`${service.url}${path}`, {
        signal: AbortSignal.timeout(60_000),
        ...request,
      });
      return await answerOf(response);
    },
    output: () => Buffer.concat(written).toString(),
    close: async () => {
      database.destroy();
      secrets.destroy();
      await service.close();
      pages.remove();
    },
  };
}

async function importDemo(backend: LocalBackend): Promise<void> {
  const made = await makeDemoTables();
  try {
    await loadDemo(made, backend);
  } finally {
    made.remove();
  }
}
