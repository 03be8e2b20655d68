/**
 * Secrets, their versions and the versions' staging labels, as in Secrets Manager.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html
 */
import { randomBytes, randomUUID } from "node:crypto";
import * as z from "zod";

/** An error that Secrets Manager answers with status 400; `code` is the name of the exception. */
export class SecretsError extends Error {
  readonly code:
    | "InvalidParameterException"
    | "InvalidRequestException"
    | "ResourceExistsException"
    | "ResourceNotFoundException";

  constructor(code: SecretsError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const storedVersion = z.object({
  id: z.string(),
  /** Absent from when a rotation announces the version until it stores a value. */
  value: z.string().optional(),
  labels: z.array(z.string()),
  createdSeconds: z.number(),
});

/** A secret as it is kept. */
export const storedSecret = z.object({
  arn: z.string(),
  name: z.string(),
  rotationFunctionArn: z.string().optional(),
  versions: z.array(storedVersion),
});

/** See `storedSecret`. */
export type StoredSecret = z.output<typeof storedSecret>;

type Version = z.output<typeof storedVersion>;

/** A secret, and one of its versions. */
export interface FoundVersion {
  readonly secret: StoredSecret;
  readonly version: Version;
}

/** The secrets of one service, in memory. Each begins with a password of 32 characters. */
export class SecretStore {
  readonly #secrets: readonly StoredSecret[];

  /** @param stored what `stored` of an earlier store returned. */
  constructor(secrets: readonly Pick<StoredSecret, "arn" | "name">[], stored: readonly StoredSecret[] = []) {
    this.#secrets = secrets.map(({ arn, name }) => {
      const password = randomBytes(24).toString("base64");
      const first = { ...newVersion(randomUUID(), password), labels: ["AWSCURRENT"] };
      return stored.find((secret) => secret.arn === arn) ?? { arn, name, versions: [first] };
    });
  }

  /** All secrets with their current values. */
  stored(): readonly StoredSecret[] {
    return this.#secrets;
  }

  /** Reads the version with an id or a label; without either, the current one. */
  get(secretId: string, versionId?: string, label = "AWSCURRENT"): FoundVersion & { readonly value: string } {
    const secret = this.#find(secretId);
    const version = versionId === undefined ? holderOf(secret, label) : versionOf(secret, versionId);
    if (version?.value === undefined) {
      const wanted = versionId === undefined ? `staging label: ${label}` : `VersionId: ${versionId}`;
      throw notFound(`the specified secret value for ${wanted}`);
    }
    return { secret, version, value: version.value };
  }

  /** The names and the rotation of a secret, and the labels of every labelled version. */
  describe(secretId: string) {
    const { arn, name, rotationFunctionArn, versions } = this.#find(secretId);
    const labelled = versions.filter(({ labels }) => labels.length > 0);
    const versionIdsToLabels = Object.fromEntries(labelled.map(({ id, labels }) => [id, labels]));
    return { arn, name, rotationFunctionArn, versionIdsToLabels };
  }

  /** Stores a value. Repeating an id with the same value has no effect; with another value, it is refused. */
  put(secretId: string, versionId: string, value: string, labels: readonly string[]): FoundVersion {
    const secret = this.#find(secretId);
    const existing = versionOf(secret, versionId);
    if (existing?.value !== undefined && existing.value !== value) {
      throw new SecretsError(
        "ResourceExistsException",
        "You can't use the same ClientRequestToken with another value.",
      );
    }
    if (existing?.value !== undefined) return { secret, version: existing };
    const version = existing ?? addVersion(secret, versionId);
    version.value = value;
    for (const label of labels) moveLabel(secret, label, version);
    return { secret, version };
  }

  /** Moves a label. If another version has the label, `removeFrom` must name that version. */
  updateLabel(secretId: string, label: string, moveTo: string, removeFrom: string | undefined): StoredSecret {
    const secret = this.#find(secretId);
    const [holder, next] = [holderOf(secret, label), versionOf(secret, moveTo)];
    if (next === undefined) throw notFound("the specified secret version");
    if (holder !== next && removeFrom !== holder?.id) {
      throw new SecretsError(
        "InvalidParameterException",
        `Staging label ${label} is currently attached to version ${holder?.id}, so you must explicitly reference that ` +
          "version in RemoveFromVersionId.",
      );
    }
    moveLabel(secret, label, next);
    return secret;
  }

  /** Announces the version that a rotation is about to create, with a label but no value. */
  beginRotation(secretId: string, rotationFunctionArn: string, versionId: string): void {
    const secret = this.#find(secretId);
    secret.rotationFunctionArn = rotationFunctionArn;
    moveLabel(secret, "AWSPENDING", versionOf(secret, versionId) ?? addVersion(secret, versionId));
  }

  #find(secretId: string): StoredSecret {
    const secret = this.#secrets.find(
      ({ arn, name }) => secretId === arn || secretId === name || secretId === arn.slice(0, -7),
    );
    if (secret === undefined) throw notFound("the specified secret");
    return secret;
  }
}

function newVersion(id: string, value?: string): Version {
  return { id, value, labels: [], createdSeconds: Date.now() / 1_000 };
}

function addVersion({ versions }: StoredSecret, id: string): Version {
  const version = newVersion(id);
  versions.push(version);
  return version;
}

function versionOf({ versions }: StoredSecret, wanted: string): Version | undefined {
  return versions.find(({ id }) => id === wanted);
}

function holderOf({ versions }: StoredSecret, label: string): Version | undefined {
  return versions.find(({ labels }) => labels.includes(label));
}

/** At most one version has a label. The version that was current becomes the previous one. */
function moveLabel(secret: StoredSecret, label: string, to: Version): void {
  const holder = holderOf(secret, label);
  if (holder === to) return;
  for (const version of secret.versions) version.labels = version.labels.filter((one) => one !== label);
  to.labels.push(label);
  if (label === "AWSCURRENT" && holder !== undefined) moveLabel(secret, "AWSPREVIOUS", holder);
}

function notFound(what: string): SecretsError {
  return new SecretsError("ResourceNotFoundException", `Secrets Manager can't find ${what}.`);
}
