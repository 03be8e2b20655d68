/**
 * The wire protocol of Secrets Manager, for the operations that functions use.
 * https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_Operations.html
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { type ListeningServer, listen } from "./listening-server.ts";
import { onlyPrograms } from "./own-requests.mjs";
import { type FoundVersion, type SecretStore, SecretsError } from "./secret-store.ts";

const secretId = z.string().min(1).max(2048);
const versionId = z.string().min(32).max(64);
const label = z.string().min(1).max(256);

const getSchema = z.strictObject({
  SecretId: secretId,
  VersionId: versionId.optional(),
  VersionStage: label.optional(),
});
const describeSchema = z.strictObject({ SecretId: secretId });
const putSchema = z.strictObject({
  SecretId: secretId,
  ClientRequestToken: versionId.default(() => randomUUID()),
  SecretString: z.string().max(65_536),
  VersionStages: z.array(label).min(1).max(20).default(["AWSCURRENT"]),
});
const updateSchema = z.strictObject({
  SecretId: secretId,
  VersionStage: label,
  MoveToVersionId: versionId,
  RemoveFromVersionId: versionId.optional(),
});

/** Supports only the default: an immediate rotation by the configured function. */
const rotateSchema = z.strictObject({
  SecretId: secretId,
  ClientRequestToken: versionId.default(() => randomUUID()),
  RotateImmediately: z.literal(true).optional(),
});

/** Rotates secrets on demand. */
export interface RotationStarter {
  /** Begins a rotation; the token becomes the id of the new version. */
  start(secretId: string, token: string): { readonly arn: string; readonly name: string };
}

type Operation = (store: SecretStore, input: unknown, rotations: () => RotationStarter) => unknown;

const operations: Readonly<Record<string, Operation>> = {
  GetSecretValue: (store, input) => {
    const { SecretId, VersionId, VersionStage } = checked(getSchema, input);
    const found = store.get(SecretId, VersionId, VersionStage);
    return { ...identity(found), SecretString: found.value, CreatedDate: found.version.createdSeconds };
  },
  DescribeSecret: (store, input) => {
    const { versionIdsToLabels, rotationFunctionArn, ...named } = store.describe(
      checked(describeSchema, input).SecretId,
    );
    return {
      ...names(named),
      RotationEnabled: rotationFunctionArn !== undefined,
      RotationLambdaARN: rotationFunctionArn,
      VersionIdsToStages: versionIdsToLabels,
    };
  },
  PutSecretValue: (store, input) => {
    const { SecretId, ClientRequestToken, SecretString, VersionStages } = checked(putSchema, input);
    return identity(store.put(SecretId, ClientRequestToken, SecretString, VersionStages));
  },
  RotateSecret: (_, input, rotations) => {
    const { SecretId, ClientRequestToken } = checked(rotateSchema, input);
    return { ...names(rotations().start(SecretId, ClientRequestToken)), VersionId: ClientRequestToken };
  },
  UpdateSecretVersionStage: (store, input) => {
    const { SecretId, VersionStage, MoveToVersionId, RemoveFromVersionId } = checked(updateSchema, input);
    return names(store.updateLabel(SecretId, VersionStage, MoveToVersionId, RemoveFromVersionId));
  },
};

/**
 * Serves a store on a free port of the loopback address.
 * @param rotations is called for each rotation: the functions that rotate secrets are started after this server.
 * @param keep is awaited before each response, because the call may have changed the store.
 * @param allowedHosts names by which it can be called, in addition to loopback ones; in lower case.
 */
export function openSecretsEndpoint(
  store: SecretStore,
  rotations: () => RotationStarter,
  keep: () => Promise<void>,
  allowedHosts: readonly string[],
): Promise<ListeningServer> {
  const answerProgram = async (request: IncomingMessage, response: ServerResponse) => {
    const { status, body } = await answer(store, rotations, keep, request);
    response.writeHead(status, {
      "content-type": "application/x-amz-json-1.1",
      "x-amzn-requestid": randomUUID(),
    });
    response.end(JSON.stringify(body));
  };
  const server = createServer(onlyPrograms(answerProgram, allowedHosts));
  server.requestTimeout = 10_000;
  return listen(server, 0);
}

async function answer(
  store: SecretStore,
  rotations: () => RotationStarter,
  keep: () => Promise<void>,
  request: IncomingMessage,
) {
  const name = String(request.headers["x-amz-target"]).replace(/^secretsmanager\./, "");
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  try {
    const input = await text(request);
    if (operation === undefined) return { status: 400, body: { __type: "UnknownOperationException" } };
    const body = operation(store, JSON.parse(input), rotations);
    await keep();
    return { status: 200, body };
  } catch (error) {
    if (!(error instanceof SecretsError))
      return { status: 500, body: { __type: "InternalServiceError", Message: String(error) } };
    return { status: 400, body: { __type: error.code, Message: error.message } };
  }
}

function names({ arn, name }: { readonly arn: string; readonly name: string }) {
  return { ARN: arn, Name: name };
}

function identity({ secret, version }: FoundVersion) {
  return { ...names(secret), VersionId: version.id, VersionStages: version.labels };
}

function checked<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw new SecretsError("InvalidParameterException", z.prettifyError(parsed.error));
  return parsed.data;
}
