import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { TableName } from "../../functions/areas.ts";
import { type ConfigurationName, configuration } from "../../infra/variables.ts";
import { keysOf } from "../../shared/devices/keys.ts";
import type { DeviceRecord } from "../../shared/devices/record.ts";
import { tableVariable } from "../../shared/table.ts";
import { type PrivateJwk, privateJwk } from "../../shared/tokens/token.ts";
import { logicalIdOf } from "../../tools/assembly.ts";
import { loadDemo, ownIssuer } from "../../tools/local/demo-service.ts";
import { makeDemoTables } from "../../tools/local/demo-tables.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { chosenPort } from "../../tools/local/servers/listening-server.ts";
import { type LocalBackend, type LocalService, startLocalService } from "../../tools/local/service.ts";
import { tableNamesIn } from "../../tools/local/store-environment.ts";
import { storeSampleOperations } from "../../tools/sample-operations.ts";
import { busyMachine } from "./busy-machine.ts";
import { type Answer, answerOf } from "./client.ts";
import { storeQuickLogins } from "./quick-logins.ts";
import { isInBrowser } from "./sample.ts";
import { sharedService } from "./service.ts";
import { uncached } from "./uncached.ts";

const aws = { region: "eu-west-1", credentials: embeddedCredentials };

/** A service for one test file, with a signing key of its own. */
export interface OwnService extends LocalService {
  readonly database: DynamoDBClient;
  readonly secrets: SecretsManagerClient;
  readonly secretId: string;
  tableName(table: TableName): string;
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
 * Starts another service of the stack, with a configuration of its own; on request with demo data, or issuing tokens to
 * clients as `npm start` does.
 */
export async function startOwnService(
  environment: Readonly<Partial<Record<ConfigurationName | Endpoint, string>>> = {},
  { hasDemoData = false, isIssuer = false } = {},
): Promise<OwnService> {
  const written: Uint8Array[] = [];
  const port = await chosenPort(0);
  const service = await startLocalService({
    assembly: sharedService.assembly,
    environment: { ...(isIssuer ? ownIssuer(port) : {}), ...environment },
    configuration: Object.keys(configuration),
    deadlineFactor: Number(busyMachine.DEADLINE_FACTOR),
    extraEnvironment: { ...busyMachine, ...uncached },
    // Each thread compiles its function again. Two ask DynamoDB at the same time; a page, of which some requests are never
    // read to their end, needs more.
    maxThreadsOf: () => (isInBrowser ? 10 : 2),
    port,
    ...(hasDemoData ? { beforeListening: importDemo } : {}),
    logs: { write: (chunk) => written.push(Buffer.from(chunk)) },
  });
  const database = new DynamoDBClient({ ...aws, endpoint: service.databaseEndpoint });
  const secrets = new SecretsManagerClient({ ...aws, endpoint: service.secretsEndpoint });
  const variables: Record<string, string> = Object.assign(
    {},
    ...service.template.functions.map(({ logicalId }) => service.environmentOf(logicalId)),
    tableNamesIn(service.template),
  );
  const named = (name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`no function has ${name}`);
    return value;
  };
  const secretId = named("SIGNING_KEY_SECRET_ARN");
  const tableName = (table: TableName) => named(tableVariable({ name: table }));
  const put: OwnService["put"] = async (table, item) => {
    const Item = marshall(item, { removeUndefinedValues: true });
    await database.send(new PutItemCommand({ TableName: tableName(table), Item }));
  };
  if (hasDemoData) {
    await storeSampleOperations(put);
    await storeQuickLogins(database, tableName("profiles"));
  }
  return {
    ...service,
    database,
    secrets,
    secretId,
    tableName,
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

/** The logical id of a function of a service. */
export function functionOf(service: LocalService, id: Parameters<typeof logicalIdOf>[0]): string {
  return logicalIdOf(id, service.template);
}
