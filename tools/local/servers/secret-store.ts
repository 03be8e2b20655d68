/**
 * Secrets, their versions and the versions' staging labels, as in Secrets Manager.
 * https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html
 */
import { randomBytes, randomUUID } from "node:crypto";
import * as z from "zod";
import type { LocalSecret } from "../template/secrets.ts";

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

interface Version {
  /** Undefined from when a rotation announces the version until it stores a value. */
  value: string | undefined;
  readonly labels: Set<string>;
  readonly createdSeconds: number;
}

interface Secret {
  readonly arn: string;
  readonly name: string;
  readonly versions: Map<string, Version>;
  rotationFunctionArn: string | undefined;
}

/** The serialized form of a secret. */
export const storedSecret = z.object({
  arn: z.string(),
  name: z.string(),
  rotationFunctionArn: z.string().optional(),
  versions: z.array(
    z.object({
      id: z.string(),
      value: z.string().optional(),
      labels: z.array(z.string()),
      createdSeconds: z.number(),
    }),
  ),
});

/** See `storedSecret`. */
export type StoredSecret = z.output<typeof storedSecret>;

/** A version as a reader receives it. */
export interface ReadVersion {
  readonly arn: string;
  readonly name: string;
  readonly versionId: string;
  readonly labels: readonly string[];
  readonly createdSeconds: number;
}

/** The secrets of one service, in memory. Each begins with a password of 32 characters. */
export class SecretStore {
  readonly #secrets: readonly Secret[];

  /** @param stored what `stored` of an earlier store returned. */
  constructor(secrets: readonly LocalSecret[], stored: readonly StoredSecret[] = []) {
    this.#secrets = secrets.map(({ arn, name }) => {
      const earlier = stored.find((secret) => secret.arn === arn);
      if (earlier !== undefined) return restored(earlier);
      const password = version(randomBytes(24).toString("base64"), ["AWSCURRENT"]);
      return { arn, name, versions: new Map([[randomUUID(), password]]), rotationFunctionArn: undefined };
    });
  }

  /** All secrets with their current values. */
  stored(): readonly StoredSecret[] {
    return this.#secrets.map(({ versions, ...secret }) => ({
      ...secret,
      versions: [...versions].map(([id, { labels, ...rest }]) => ({ id, ...rest, labels: [...labels] })),
    }));
  }

  /** Reads the version with an id or a label; without either, the current one. */
  get(secretId: string, versionId?: string, label?: string): ReadVersion & { readonly value: string } {
    const secret = this.#find(secretId);
    const id = versionId ?? holderOf(secret, label ?? "AWSCURRENT");
    const found = id === undefined ? undefined : secret.versions.get(id);
    if (id === undefined || found?.value === undefined) {
      const wanted = versionId ? `VersionId: ${versionId}` : `staging label: ${label ?? "AWSCURRENT"}`;
      throw notFound(`the specified secret value for ${wanted}`);
    }
    if (versionId !== undefined && label !== undefined && !found.labels.has(label)) {
      throw new SecretsError(
        "InvalidRequestException",
        "The version lacks the staging label of the request.",
      );
    }
    return { ...describe(secret, id, found), value: found.value };
  }

  /** The names and the rotation of a secret, and the labels of every labelled version. */
  describe(secretId: string) {
    const { arn, name, rotationFunctionArn, versions } = this.#find(secretId);
    const labelled = [...versions].filter(([, { labels }]) => labels.size > 0);
    return {
      arn,
      name,
      rotationFunctionArn,
      versionIdsToLabels: Object.fromEntries(labelled.map(([id, { labels }]) => [id, [...labels]])),
    };
  }

  /** Stores a value. Repeating an id with the same value has no effect; with another value, it is refused. */
  put(
    secretId: string,
    versionId: string,
    value: string,
    labels: readonly string[] = ["AWSCURRENT"],
  ): ReadVersion {
    const secret = this.#find(secretId);
    const existing = secret.versions.get(versionId);
    if (existing?.value !== undefined && existing.value !== value) {
      throw new SecretsError(
        "ResourceExistsException",
        "You can't use the same ClientRequestToken with another value.",
      );
    }
    const stored = existing ?? version(value, []);
    if (existing?.value === undefined) {
      stored.value = value;
      secret.versions.set(versionId, stored);
      for (const label of labels) moveLabel(secret, label, versionId);
    }
    return describe(secret, versionId, stored);
  }

  /** Moves a label. If another version has the label, `removeFrom` must name that version. */
  updateLabel(secretId: string, label: string, moveTo: string, removeFrom: string | undefined) {
    const secret = this.#find(secretId);
    const holder = holderOf(secret, label);
    if (!secret.versions.has(moveTo)) throw notFound("the specified secret version");
    if (removeFrom !== undefined && removeFrom !== holder) {
      throw new SecretsError(
        "InvalidParameterException",
        `The staging label ${label} isn't currently attached to version ${removeFrom}.`,
      );
    }
    if (holder !== undefined && holder !== moveTo && removeFrom === undefined) {
      throw new SecretsError(
        "InvalidParameterException",
        `The parameter RemoveFromVersionId can't be empty. Staging label ${label} is currently attached to ` +
          `version ${holder}, so you must explicitly reference that version in RemoveFromVersionId.`,
      );
    }
    moveLabel(secret, label, moveTo);
    return { arn: secret.arn, name: secret.name };
  }

  /** Announces the version that a rotation is about to create, with a label but no value. */
  beginRotation(secretId: string, rotationFunctionArn: string, versionId: string): void {
    const secret = this.#find(secretId);
    secret.rotationFunctionArn = rotationFunctionArn;
    secret.versions.set(versionId, version(undefined, []));
    moveLabel(secret, "AWSPENDING", versionId);
  }

  #find(secretId: string): Secret {
    const secret = this.#secrets.find(
      ({ arn, name }) => secretId === arn || secretId === name || secretId === arn.slice(0, -7),
    );
    if (secret === undefined) throw notFound("the specified secret");
    return secret;
  }
}

function restored({ versions, rotationFunctionArn, ...secret }: StoredSecret): Secret {
  const entries = versions.map(({ id, value, labels, createdSeconds }) => {
    return [id, { value, labels: new Set(labels), createdSeconds }] as const;
  });
  return { ...secret, rotationFunctionArn, versions: new Map(entries) };
}

function version(value: string | undefined, labels: readonly string[]): Version {
  return { value, labels: new Set(labels), createdSeconds: Date.now() / 1000 };
}

function describe(secret: Secret, versionId: string, { labels, createdSeconds }: Version): ReadVersion {
  return { arn: secret.arn, name: secret.name, versionId, labels: [...labels], createdSeconds };
}

function holderOf(secret: Secret, label: string): string | undefined {
  return [...secret.versions].find(([, { labels }]) => labels.has(label))?.[0];
}

/** At most one version has a label. The version that was current becomes the previous one. */
function moveLabel(secret: Secret, label: string, versionId: string): void {
  const holder = holderOf(secret, label);
  if (holder === versionId) return;
  if (holder !== undefined) secret.versions.get(holder)?.labels.delete(label);
  secret.versions.get(versionId)?.labels.add(label);
  if (label !== "AWSCURRENT" || holder === undefined) return;
  secret.versions.get(versionId)?.labels.delete("AWSPREVIOUS");
  moveLabel(secret, "AWSPREVIOUS", holder);
}

function notFound(what: string): SecretsError {
  return new SecretsError("ResourceNotFoundException", `Secrets Manager can't find ${what}.`);
}
